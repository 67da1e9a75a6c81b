/** What a person finds after the first `keelson up`: something to search, jobs that succeed, are retried and fail; and how to be rid of it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "./process/keelson-process.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-first-"));
afterEach(stopAll);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));

const PATIENCE_MS = 60_000;

/** As a person starts it, who says nothing of a demo. */
async function up(data: string): Promise<{ process: KeelsonProcess; url: string }> {
  const process = new KeelsonProcess(["up", "--data", data, "--listen", "127.0.0.1:0"], {
    KEELSON_DEMO: undefined,
  });
  const [, url = ""] = await process.says(/ready in .*: (http:\S+)/, PATIENCE_MS);
  return { process, url };
}

async function stop(process: KeelsonProcess): Promise<void> {
  process.signal("SIGTERM");
  await process.endsWith(0);
}

async function ask<T>(url: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as T;
}

/** Asks until what comes is right, or time is up. */
async function until<T>(look: () => Promise<T>, isRight: (found: T) => boolean): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (isRight(found) || performance.now() > deadline) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const statuses = async (url: string): Promise<Record<string, string>> => {
  const { jobs } = await ask<{ jobs: { id: string; status: string }[] }>(url, "/v1/jobs/tenants/demo/jobs");
  return Object.fromEntries(jobs.map(({ id, status }) => [id, status]));
};

test(
  "the first start offers a demo, a later one mentions it, and one command takes it away for good",
  { timeout: 240_000 },
  async () => {
    const data = join(folder, "data");
    const first = await up(data);
    await first.process.says(/demo: the source of Keelson can be searched/, PATIENCE_MS);
    const search = () =>
      ask<{ Result?: { Files: { FileName: string; Repository: string; Version: string }[] } }>(
        first.url,
        "/v1/code/search",
        { Q: "file:keelson-process KeelsonProcess" },
      );
    const { Result } = await until(search, (found) => (found.Result?.Files.length ?? 0) > 0);
    expect(Result?.Files[0]).toMatchObject({ Repository: "demo/keelson" });
    expect(Result?.Files[0]?.Version).toMatch(/^[0-9a-f]{40}$/);
    const ended = await until(
      () => statuses(first.url),
      (found) =>
        found["demo-failed"] === "failed" &&
        found["demo-retried"] === "succeeded" &&
        found["demo-welcome-1"] === "succeeded",
    );
    expect(ended).toMatchObject({
      "demo-failed": "failed",
      "demo-retried": "succeeded",
      "demo-reminder": "scheduled",
    });
    await stop(first.process);

    const second = await up(data);
    await second.process.says(/demo: it is still here/, PATIENCE_MS);
    const remove = new KeelsonProcess(["demo", "remove", "--url", second.url, "--json"]);
    await remove.endsWith(0);
    expect(JSON.parse(remove.stdout.join("\n"))).toMatchObject({ repositories: 1, schedules: 3 });
    expect(await ask(second.url, "/v1/code/repositories")).toMatchObject({ repositories: [] });
    expect(await ask(second.url, "/v1/jobs/tenants/demo/schedules")).toEqual({ schedules: [] });
    await stop(second.process);

    const third = await up(data);
    await third.process.says(/Ctrl-C stops it/);
    await stop(third.process);
    expect(third.process.all).not.toMatch(/demo/);
  },
);
