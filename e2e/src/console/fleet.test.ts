import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToken, writeTokenFile } from "@keelson/gateway";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";
import { buildConsole, shoot, TestBrowser } from "./browser.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-console-"));
let browser: TestBrowser;
let url: string;
const tokens = {
  admin: createToken({ name: "ann", scope: "admin" }, Date.now()),
  read: createToken({ name: "ron", scope: "read" }, Date.now()),
};

beforeAll(async () => {
  buildConsole();
  const file = join(folder, "tokens.json");
  await writeTokenFile(
    file,
    Object.values(tokens).map(({ record }) => record),
  );
  const process = new KeelsonProcess([
    "up",
    "--data",
    join(folder, "data"),
    "--listen",
    "127.0.0.1:0",
    "--service",
    "counter",
    "--shards",
    "24",
    "--tokens",
    file,
  ]);
  const [said, opened] = await Promise.all([
    process.says(/ready in .*: (http:\S+)/, 60_000),
    TestBrowser.open(),
  ]);
  [, url = ""] = said;
  browser = opened;
}, 120_000);

afterEach(() => {
  const wrong = browser.wrong.join("\n");
  if (wrong !== "") throw new Error(`a page had a problem: ${wrong}`);
});

afterAll(async () => {
  await browser.close();
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
});

async function as(who: "admin" | "read", path: string, options: object = {}): Promise<Page> {
  return browser.page(`${url}/console${path}`, { token: tokens[who].token, ...options });
}

/** Where the first shard in a node's table leads to. */
async function firstShardOf(page: Page): Promise<string> {
  const link = page.locator('[role="grid"] a[href*="/console/shards/"]').first();
  await link.waitFor();
  return (await link.getAttribute("href")) ?? "";
}

test("asks for a token, says that a wrong one is not taken, and lets a good one in", async () => {
  const page = await browser.page(url, { expectedErrors: /401/ });
  await page.getByLabel("Token").fill("keelson_nonsense");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("UNAUTHORISED").waitFor();
  await shoot(page, "sign-in");
  await page.getByLabel("Token").fill(tokens.read.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("All is well").waitFor();
  expect(page.url()).toBe(`${url}/console/`);
  expect(page.url()).not.toContain(tokens.read.token);
  await page.close();
}, 120_000);

test("shows a shard move when its node is drained, with nothing loaded anew", async () => {
  const node = await as("admin", "/nodes/a");
  const href = await firstShardOf(node);
  const shard = await browser.page(`${url}${href}`, { token: tokens.admin.token });
  const holder = shard.getByRole("region", { name: "Replica 0" }).getByRole("heading", { level: 2 });
  await expect.poll(() => holder.innerText(), { timeout: 30_000 }).toBe("a");
  const map = await as("admin", "/map");
  await map.getByRole("application").waitFor();

  await node.getByRole("button", { name: "Drain…" }).click();
  const dialog = node.getByRole("dialog", { name: "Drain a?" });
  await dialog.getByText(/would move/).waitFor();
  await dialog.getByLabel(/Reason/).fill("a new disk");
  await shoot(node, "drain-dialog");
  await dialog.getByRole("button", { name: "Drain", exact: true }).click();

  await expect.poll(() => holder.innerText(), { timeout: 30_000 }).toMatch(/^[bc]$/);
  await shard.getByText(/hand-over from a/).waitFor();
  await node.getByText("It holds nothing any more").waitFor();
  await node.getByText("a new disk").waitFor();
  await shoot(shard, "shard");
  await shoot(map, "map-after-drain");

  await node.getByRole("button", { name: "Undrain" }).click();
  await node.getByRole("dialog").getByRole("button", { name: "Undrain" }).click();
  await firstShardOf(node);
  await shoot(node, "node");
  for (const page of [node, shard, map]) await page.close();
}, 120_000);

test("refuses an action without the scope: the button says why, and so does the gateway", async () => {
  const page = await as("read", "/nodes/b");
  const button = page.getByRole("button", { name: "Drain…" });
  await button.waitFor();
  expect(await button.getAttribute("aria-disabled")).toBe("true");
  expect(await button.getAttribute("title")).toBe("Needs the scope admin; the token ron has read.");
  await button.click({ force: true });
  expect(await page.getByRole("dialog").count()).toBe(0);
  await shoot(page, "without-the-scope");
  await page.close();

  const answer = await fetch(`${url}/v1/fleet/drains/b`, {
    method: "PUT",
    headers: { authorization: `Bearer ${tokens.read.token}`, "content-type": "application/json" },
    body: JSON.stringify({ reason: "" }),
  });
  expect(answer.status).toBe(403);
  expect(JSON.stringify(await answer.json())).toContain("FORBIDDEN");
}, 120_000);

test("is used with the keyboard alone", async () => {
  const page = await as("read", "/");
  await page.getByText("All is well").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("n");
  await page.waitForURL("**/console/nodes");
  const nodes = page.getByRole("grid", { name: "Nodes" });
  await nodes.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/console/nodes/b");
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  const map = page.getByRole("application");
  await map.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  const chosen = await page.locator("#map-chosen strong").innerText();
  expect(chosen).toMatch(/^counter\/\d+$/);
  await shoot(page, "map-keyboard");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/console/shards/${chosen}`);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await shoot(page, "keyboard-help");
  await page.keyboard.press("Escape");
  await page.keyboard.press("k");
  await page.getByRole("combobox").fill("c");
  await page.getByRole("option", { name: /^c\s+Node/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("grid", { name: "Replicas" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("11");
  await page.getByText("1 replica", { exact: true }).waitFor();
  expect(page.url()).toContain("q=11");
  await page.close();
}, 120_000);

test("makes a token, shows it once, and revokes it: who used it is asked for another at once", async () => {
  const page = await as("admin", "/tokens");
  await page.getByRole("button", { name: "New token…" }).click();
  await page.getByLabel(/^Name/).fill("eve");
  await page.getByRole("button", { name: "Make it" }).click();
  const made = page.getByRole("dialog", { name: "The token of eve" });
  const token = await made.getByLabel("Token").inputValue();
  expect(token).toMatch(/^keelson_/);
  await made.getByRole("button", { name: "I have it" }).click();
  const row = page.getByRole("row", { name: /^eve/ });
  await row.waitFor();
  expect(await page.content()).not.toContain(token);

  const hers = await browser.page(`${url}/console/nodes`, { token });
  await hers.getByRole("grid", { name: "Nodes" }).waitFor();
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row.waitFor({ state: "detached" });
  await hers.getByRole("button", { name: "Sign in" }).waitFor();
  expect(await hers.getByRole("grid").count()).toBe(0);

  await page.goto(`${url}/console/audit`);
  await page.getByText("fleet.revokeToken").first().waitFor();
  await shoot(page, "audit");
  for (const one of [page, hers]) await one.close();
}, 120_000);

test("forgets the text of a new token when its page is left", async () => {
  const page = await as("admin", "/nodes");
  await page.getByRole("grid", { name: "Nodes" }).waitFor();
  await page.getByRole("link", { name: "Tokens" }).click();
  await page.getByRole("button", { name: "New token…" }).click();
  await page.getByLabel(/^Name/).fill("mia");
  await page.getByRole("button", { name: "Make it" }).click();
  const made = page.getByRole("dialog", { name: "The token of mia" });
  await made.waitFor();
  await page.goBack();
  await page.getByRole("grid", { name: "Nodes" }).waitFor();
  await page.getByRole("link", { name: "Tokens" }).click();
  await page.getByRole("row", { name: /^mia/ }).waitFor();
  expect(await made.count()).toBe(0);
  await page.close();
}, 120_000);

/** Things that can be used and that a screen reader could not name, and how far the page is too wide. */
const PROBLEMS = `(() => {
  const nameless = [...document.querySelectorAll("button, a[href], input, select, textarea, [tabindex='0']")]
    .filter((one) => one.checkVisibility())
    .filter((one) => !((one.textContent ?? "").trim() || one.getAttribute("aria-label") || one.labels?.length))
    .map((one) => one.outerHTML.slice(0, 120));
  const wide = document.documentElement.scrollWidth - innerWidth;
  return JSON.stringify({ nameless, wide: Math.max(0, wide) });
})()`;

const PLACES = [
  "/",
  "/map",
  "/nodes",
  "/nodes/c",
  "/shards",
  "/shards/counter/3",
  "/moves",
  "/auctions",
  "/events",
  "/alerts",
];

test("fits a phone and both themes, and everything on it has a name", async () => {
  for (const [name, options, places] of [
    ["light", {}, PLACES.slice(0, 3)],
    ["dark", { dark: true }, PLACES.slice(0, 6)],
    ["phone", { width: 390, height: 844 }, PLACES],
  ] as const) {
    const page = await as("read", "/", options);
    for (const place of places) {
      await page.goto(`${url}/console${place}`);
      await page.locator("main h1").waitFor();
      await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
      expect(`${place} ${name} ${String(await page.evaluate(PROBLEMS))}`).toBe(
        `${place} ${name} {"nameless":[],"wide":0}`,
      );
      await shoot(page, `${name}${place.replaceAll("/", "-").replace(/-$/, "-overview")}`);
    }
    await page.close();
  }
}, 180_000);
