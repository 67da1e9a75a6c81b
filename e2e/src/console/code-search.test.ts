/** The console's code search in a real browser: results while one types, filters, a file with its lines, symbols and matches, and files too large to draw. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";
import { PATIENCE_MS, shoot, TestBrowser } from "./browser.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-console-code-"));
let browser: TestBrowser;
let url = "";

/** Without it there are no symbols, and nothing waits for them. */
const hasSymbols = String(spawnSync("ctags", ["--version"]).stdout).includes("Universal Ctags");

const BIG_LINES = 40_000;
const FILES: Readonly<Record<string, string>> = {
  "src/harbour.ts": [
    "/** Where ships lie. */",
    "export class Harbour {",
    "  readonly ships: string[] = [];",
    "",
    "  berth(name: string): number {",
    "    this.ships.push(name);",
    "    return this.ships.length;",
    "  }",
    "}",
    "",
  ].join("\n"),
  "src/fleet.py": "def berth(ship):\n    return f'berth of {ship}'\n",
  "docs/berths.md": "# Berths\n\nA berth is a place for a ship.\n",
  "data/big.ts": Array.from({ length: BIG_LINES }, (_, n) => `export const berth${n + 1} = ${n};`).join("\n"),
  "data/long.js": `const all = "${"x".repeat(300_000)}berthing${"y".repeat(300_000)}";\n`,
};

function git(...args: string[]): void {
  execFileSync("git", ["-c", "user.name=e2e", "-c", "user.email=e2e@keelson.invalid", ...args], {
    stdio: "ignore",
  });
}

/** A repository of these files, searchable. */
async function searchable(): Promise<void> {
  const repository = join(folder, "harbour");
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(repository, name)), { recursive: true });
    writeFileSync(join(repository, name), text);
  }
  git("init", "--quiet", "--initial-branch=main", repository);
  git("-C", repository, "add", ".");
  git("-C", repository, "commit", "--quiet", "-m", "first");
  const added = await fetch(`${url}/v1/code/repositories`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ repositories: [{ url: repository, name: "test/harbour" }] }),
  });
  expect(added.status).toBe(200);
  const isReady = async (): Promise<boolean> => {
    const answer = await fetch(`${url}/v1/code/search`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      // Symbols come with a second pass.
      body: JSON.stringify({ Q: hasSymbols ? "sym:Harbour" : "file:harbour.ts" }),
    });
    const { Result } = (await answer.json()) as { Result?: { Files: unknown[] | null } };
    return (Result?.Files?.length ?? 0) > 0;
  };
  for (const until = performance.now() + 2 * PATIENCE_MS; !(await isReady());) {
    if (performance.now() > until) throw new Error("the repository is not searchable");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

beforeAll(async () => {
  const opening = TestBrowser.open();
  opening.catch(() => undefined);
  const where = ["--data", join(folder, "data"), "--listen", "127.0.0.1:0", "--ttl", "1m"];
  const up = new KeelsonProcess(["up", ...where, "--service", "code", "--nodes", "1"]);
  [, url = ""] = await up.says(/ready in .*: (http:\S+)/, 2 * PATIENCE_MS);
  browser = await opening;
  await searchable();
}, 6 * PATIENCE_MS);

afterAll(async () => {
  await browser?.close();
  await stopAll();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

const field = (page: Page) => page.getByRole("searchbox", { name: "Search code" });

test(
  "results come while one types, filters edit the query, and a match leads to its line in the file",
  { timeout: 4 * PATIENCE_MS },
  async () => {
    const page = await browser.page(`${url}/console/code/search`);
    await field(page).pressSequentially("berth -file:data", { delay: 20 });
    await page.getByText(/matches in 3 files,/).waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe("berth -file:data");
    await shoot(page, "code-search-light");

    await page.getByRole("button", { name: /^TypeScript/ }).click();
    await page.getByText("in 1 file,").waitFor();
    expect(await field(page).inputValue()).toBe("berth -file:data lang:TypeScript");
    await page.getByRole("button", { name: /^TypeScript/ }).click();
    await page.getByText(/matches in 3 files,/).waitFor();

    // By keyboard alone: down into the matches, to the next, and in.
    await field(page).fill("this.ships");
    await page.getByText("2 matches in 1 file").waitFor();
    await field(page).press("ArrowDown");
    await page.keyboard.press("n");
    await page.keyboard.press("Enter");
    await page.waitForURL(/files\/test%2Fharbour\/src\/harbour\.ts\?q=this\.ships#L7$/);
    const lines = page.getByRole("region", { name: "src/harbour.ts" });
    await lines.locator(".chosen", { hasText: "return this.ships.length" }).waitFor();
    await lines.locator("mark").first().waitFor();
    await page.getByText("2 of 2 lines").waitFor();
    await page.keyboard.press("p");
    await page.getByText("1 of 2 lines").waitFor();
    expect(new URL(page.url()).hash).toBe("#L6");
    if (hasSymbols) await page.getByRole("button", { name: /^berth/ }).click();
    else await lines.getByRole("link", { name: "5", exact: true }).click();
    expect(new URL(page.url()).hash).toBe("#L5");
    await lines.getByRole("link", { name: "7", exact: true }).click({ modifiers: ["Shift"] });
    expect(new URL(page.url()).hash).toBe("#L5-L7");
    await page.reload();
    await lines.locator(".chosen").nth(2).waitFor();
    expect(await lines.locator(".chosen").count()).toBe(3);
    await shoot(page, "code-file-light");
    await page.close();
    expect(browser.wrong).toEqual([]);
  },
);

test(
  "a query that is wrong is pointed at, and expressions can be switched off",
  { timeout: 4 * PATIENCE_MS },
  async () => {
    const page = await browser.page(`${url}/console/code/search?q=berth(`, { dark: true });
    await page.getByRole("alert").waitFor();
    expect(await page.locator(".query-wrong u").textContent()).toBe("(");
    await shoot(page, "code-wrong-dark");
    await page.getByRole("button", { name: "Regular expressions" }).click();
    await page.getByText("2 matches in 2 files").waitFor();
    expect(new URL(page.url()).searchParams.get("literal")).toBe("1");
    await shoot(page, "code-search-dark");
    await page.close();
    expect(browser.wrong).toEqual([]);
  },
);

test(
  "a file of forty thousand lines, and a line of six hundred thousand characters, are drawn in parts",
  { timeout: 4 * PATIENCE_MS },
  async () => {
    const page = await browser.page(`${url}/console/code/files/test%2Fharbour/data/big.ts#L39000`, {
      width: 390,
    });
    const lines = page.getByRole("region", { name: "data/big.ts" });
    await lines.locator(".chosen", { hasText: "berth39000 = 38999" }).waitFor();
    expect(await lines.locator(".file-line").count()).toBeLessThan(150);
    await page.evaluate("document.querySelector('.file-view').scrollTo(0, 0)");
    await lines.locator(".file-line", { hasText: "berth1 = 0" }).waitFor();
    await shoot(page, "code-file-phone");
    await page.goto(`${url}/console/code/search?q=berthing`);
    const found = page.locator(".result-line", { hasText: "berthing" });
    await found.waitFor();
    expect((await found.textContent())?.length).toBeLessThan(400);
    await shoot(page, "code-search-phone");
    await found.click();
    const long = page.getByRole("region", { name: "data/long.js" });
    await long.locator("mark", { hasText: "berthing" }).waitFor();
    expect((await long.textContent())?.length).toBeLessThan(4_000);
    await page.close();
    expect(browser.wrong).toEqual([]);
  },
);
