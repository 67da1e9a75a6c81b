/**
 * A real browser for tests of the console: Debian's Chromium, headless, with a profile of its own. A page that logs an error, throws, or breaks its
 * security policy fails the test that opened it. Screenshots go to a folder for people to look at.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { requireProgram } from "@keelson/testkit/servers";
import { chromium, type BrowserContext, type Page } from "playwright-core";

const SHOTS =
  process.env["KEELSON_SCREENSHOTS"] ?? fileURLToPath(new URL("../../screenshots", import.meta.url));

/** Generous: CI has two cores and much to do. */
export const PATIENCE_MS = 30_000;

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  "--hide-scrollbars",
];

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** Kept in the tab before the page is loaded, as after signing in. */
  readonly token?: string;
  /** What the page may log as an error without failing the test: an answer of 403 is one. */
  readonly expectedErrors?: RegExp;
}

export class TestBrowser {
  readonly #context: BrowserContext;
  readonly #profile: string;
  readonly #wrong: string[] = [];

  private constructor(context: BrowserContext, profile: string) {
    this.#context = context;
    this.#profile = profile;
  }

  /** `flags`: more of them for Chromium, such as one that makes its heap readable. */
  static async open(flags: readonly string[] = []): Promise<TestBrowser> {
    const profile = mkdtempSync(join(tmpdir(), "keelson-browser-"));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: requireProgram("chromium", "chromium"),
      args: [...FLAGS, ...flags],
      headless: true,
      timeout: 2 * PATIENCE_MS,
      viewport: { width: 1280, height: 860 },
    });
    context.setDefaultTimeout(PATIENCE_MS);
    return new TestBrowser(context, profile);
  }

  async page(url: string, options: PageOptions = {}): Promise<Page> {
    const { width = 1280, height = 860, dark = false, token, expectedErrors } = options;
    const page = await this.#context.newPage();
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: dark ? "dark" : "light", reducedMotion: "reduce" });
    page.on("pageerror", (error) => this.#wrong.push(`${page.url()}: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" && expectedErrors?.test(message.text()) !== true)
        this.#wrong.push(`${page.url()}: ${message.text()}`);
    });
    if (token !== undefined)
      await page.addInitScript({
        content: `sessionStorage.setItem("keelson-token", ${JSON.stringify(token)})`,
      });
    await page.goto(url);
    return page;
  }

  /** What went wrong on any page so far; a test expects it to be empty. */
  get wrong(): readonly string[] {
    return this.#wrong;
  }

  async close(): Promise<void> {
    await this.#context.close();
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** Builds the page, if it is not built already, so that tests need no more than `npm run unit`. */
export function buildConsole(): void {
  const script = fileURLToPath(new URL("../../../apps/console/scripts/build.mjs", import.meta.url));
  execFileSync(process.execPath, [script], { stdio: ["ignore", "ignore", "inherit"] });
}

/** Writes what the page shows to `e2e/screenshots/<name>.png`, or to the folder that KEELSON_SCREENSHOTS names. */
export async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}
