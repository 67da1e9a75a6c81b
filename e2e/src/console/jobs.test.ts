/** The console's job pages in a real browser, against a fleet with a running worker: enqueue a job, see it fail, run it again; steer many; pause. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";
import { PATIENCE_MS, shoot, TestBrowser } from "./browser.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-console-jobs-"));
let browser: TestBrowser;
let url = "";

beforeAll(async () => {
  const opening = TestBrowser.open();
  opening.catch(() => undefined);
  const where = ["--data", join(folder, "data"), "--listen", "127.0.0.1:0", "--ttl", "1m"];
  const up = new KeelsonProcess(["up", ...where, "--service", "jobs", "--nodes", "1", "--demo"]);
  [, url = ""] = await up.says(/ready in .*: (http:\S+)/, 2 * PATIENCE_MS);
  await up.says(/demo: /, 2 * PATIENCE_MS);
  browser = await opening;
}, 6 * PATIENCE_MS);

afterAll(async () => {
  await browser?.close();
  await stopAll();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

async function enqueue(tenant: string, id: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await fetch(`${url}/v1/jobs/tenants/${tenant}/jobs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id, ...body }),
  });
  expect(answer.status).toBe(201);
}

/** Says yes to what the page asks. */
async function agree(page: Page, word: string): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: word, exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

test(
  "a job is enqueued, fails, and is run again, and the page follows it",
  { timeout: 4 * PATIENCE_MS },
  async () => {
    const page = await browser.page(`${url}/console/jobs/queues`);
    await page.getByRole("heading", { name: "Task groups" }).waitFor();
    await page.getByRole("img", { name: "Jobs a second" }).waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    await shoot(page, "jobs-queues-light");
    await page.keyboard.press("e");
    const form = page.getByRole("dialog");
    await form.getByLabel("Task group").fill("demo-mail");
    await form.getByLabel("Tenant").fill("by-hand");
    await form.getByLabel("Payload").fill('{"task": "knock", "takesMs": 20, "fails": "once"');
    await form.getByRole("button", { name: "Enqueue" }).click();
    await form.getByText("begins like JSON").waitFor();
    await form.getByLabel("Payload").fill('{"task": "knock", "takesMs": 20, "fails": "once"}');
    await form.getByLabel("Id").fill("knock-1");
    await form.getByRole("button", { name: "Enqueue" }).click();

    await page.waitForURL(/tenants\/by-hand\/jobs\/knock-1$/);
    await page.locator("header .job-status", { hasText: "failed" }).waitFor();
    await page.getByText("knock fails the first time").first().waitFor();
    await shoot(page, "jobs-job-light");
    await page.getByRole("button", { name: "Restart" }).click();
    await agree(page, "Restart the job");
    await page.locator("header .job-status", { hasText: "succeeded" }).waitFor();
    await page.getByText("Attempt 2").waitFor();
    await page.getByText('"attempt": 2').waitFor();
    await page.close();
    expect(browser.wrong).toEqual([]);
  },
);

test(
  "jobs that are chosen are cancelled together, after a question",
  { timeout: 4 * PATIENCE_MS },
  async () => {
    const later = { group: "e2e-later", startAtMs: Date.now() + 3_600_000 };
    for (const id of ["later-1", "later-2", "later-3"]) await enqueue("many", id, later);
    const page = await browser.page(`${url}/console/jobs/jobs?tenant=many`, { dark: true });
    await page.getByLabel("Choose later-1").check();
    await page.getByLabel("Choose later-3").check();
    await page.getByText("2 jobs chosen").waitFor();
    await shoot(page, "jobs-list-dark");
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await agree(page, "Cancel 2 jobs");
    await page.getByText("2 jobs cancelled.").waitFor();
    await page.getByLabel("Any status").selectOption("cancelled");
    await page.getByText("2 jobs shown").waitFor();
    await page.getByRole("button", { name: "Restart all" }).click();
    await agree(page, "Restart them");
    await page.getByText("2 jobs restarted.").waitFor();
    await page.getByText("No such jobs").waitFor();
    await page.close();
    expect(browser.wrong).toEqual([]);
  },
);

test(
  "a tenant is paused and goes on, and its schedules and limits are shown on a phone as well",
  { timeout: 4 * PATIENCE_MS },
  async () => {
    const page = await browser.page(`${url}/console/jobs/tenants/demo`, { width: 390 });
    await page.getByText("demo-digest").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await agree(page, "Pause");
    await page.getByRole("button", { name: "Resume" }).click();
    await agree(page, "Resume");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await shoot(page, "jobs-tenant-phone");
    await page.goto(`${url}/console/jobs/schedules`);
    await page.getByText("demo-nightly-report").waitFor();
    await shoot(page, "jobs-schedules-phone");
    await page.close();
    expect(browser.wrong).toEqual([]);
  },
);
