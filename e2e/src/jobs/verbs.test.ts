/** `keelson jobs …` against a live `keelson up`: each verb as a process of its own, as a person runs it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-verbs-"));
let url = "";
beforeAll(async () => {
  const up = new KeelsonProcess([
    "up",
    "--data",
    join(folder, "data"),
    "--listen",
    "127.0.0.1:0",
    "--ttl",
    "5m",
    "--service",
    "jobs",
  ]);
  [, url = ""] = await up.says(/ready in .*: (http:\S+)/, 60_000);
}, 90_000);
afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
});

async function verb(...args: string[]): Promise<unknown> {
  const process = new KeelsonProcess(["jobs", ...args, "--url", url, "--json"]);
  await process.endsWith(0);
  return JSON.parse(process.stdout.join("\n")) as unknown;
}

/** What a person reads. */
async function shown(...args: string[]): Promise<string> {
  const process = new KeelsonProcess(["jobs", ...args, "--url", url]);
  await process.endsWith(0);
  return process.stdout.join("\n");
}

async function refused(...args: string[]): Promise<{ code: number; said: string }> {
  const process = new KeelsonProcess(["jobs", ...args, "--url", url]);
  const code = await process.ended;
  return { code, said: process.stderr.join("\n") };
}

test("a job is enqueued, looked at, listed, cancelled and restarted", async () => {
  const enqueue = ["enqueue", "mail", '{"to":"a@example.org"}', "--id", "m1", "--tenant", "acme"];
  expect(await verb(...enqueue, "--priority", "5")).toEqual({ id: "m1", outcome: "created" });
  expect(await verb(...enqueue, "--priority", "5")).toEqual({ id: "m1", outcome: "same" });
  expect(await verb("get", "m1", "--tenant", "acme")).toMatchObject({
    id: "m1",
    status: "scheduled",
    priority: 5,
    payload: { to: "a@example.org" },
    attempts: [],
  });
  expect(await shown("list", "--tenant", "acme")).toMatch(/m1 +mail +scheduled +worker +5/);
  expect(await shown("cancel", "m1", "--tenant", "acme")).toMatch(/job m1 is cancelled/);
  expect(await verb("list", "--tenant", "acme", "--status", "cancelled")).toMatchObject([{ id: "m1" }]);
  expect(await shown("restart", "m1", "--tenant", "acme")).toMatch(/job m1 runs again/);
  expect(await verb("list", "--tenant", "acme", "--status", "scheduled")).toMatchObject([{ id: "m1" }]);
}, 120_000);

test("stats count jobs and show what each group has to do", async () => {
  await verb("enqueue", "stats-group", "--tenant", "counted");
  const text = await shown("stats");
  expect(text).toMatch(/scheduled\W+[1-9]/);
  expect(text).toMatch(/stats-group +(false|no)? *\w* *1 +0/);
}, 60_000);

test("tail follows what happens, of one tenant when that is asked for", async () => {
  const tail = new KeelsonProcess(["jobs", "tail", "--tenant", "tailed", "--url", url, "--json"]);
  const heard = tail.says(/"status":"scheduled"/, 60_000).catch((error: unknown) => error);
  // Until its streams are open, nothing is heard; so jobs go on coming.
  let enqueued = 0;
  const until = performance.now() + 60_000;
  while (tail.stdout.length === 0 && performance.now() < until) {
    enqueued += 1;
    await verb("enqueue", "g", "--tenant", "tailed", "--id", `t${enqueued}`);
    await verb("enqueue", "g", "--tenant", "other");
  }
  expect(await heard).not.toBeInstanceOf(Error);
  expect(tail.stdout.every((line) => line.includes('"tenant":"tailed"'))).toBe(true);
  tail.signal("SIGINT");
  await tail.ended;
}, 120_000);

test("dump prints a shard's keys", async () => {
  await verb("enqueue", "g", "--tenant", "dumped", "--id", "d1");
  const answer = await fetch(`${url}/v1/jobs/tenants/dumped`);
  const { shard } = (await answer.json()) as { shard: string };
  const all = await shown("dump", shard);
  expect(all).toMatch(/^jobs\/dumped\/d1 \{/m);
  expect(all).toMatch(/^idx\/status_ts\/dumped\/scheduled\/\d{20}\/d1 null/m);
  const tasks = await shown("dump", shard, "--prefix", "tasks/");
  expect(tasks.split("\n").every((line) => line.startsWith("tasks/"))).toBe(true);
}, 60_000);

describe("what is wrong is said in a line, with an exit code", () => {
  test.each([
    ["a job that is not there", ["get", "nowhere"], /there is no job nowhere/],
    ["a state that does not allow it", ["restart", "m1", "--tenant", "acme"], /cannot be restarted/],
    ["a priority that is none", ["enqueue", "g", "--priority", "-1"], /priority/],
    [
      "a priority that is no number",
      ["enqueue", "g", "--priority", "high"],
      /--priority takes a whole number/,
    ],
    ["a wait that is no number", ["enqueue", "never", "--wait", "soon"], /--wait takes a whole number/],
    ["no group", ["enqueue"], /group/],
    ["a status that is none", ["list", "--status", "sleeping"], /status/],
    ["a shard that is not there", ["dump", "99"], /there is no shard 99/],
  ])(
    "%s",
    async (_, args, said) => {
      const { code, said: text } = await refused(...args);
      expect(code).not.toBe(0);
      expect(text).toMatch(said);
    },
    60_000,
  );
});
