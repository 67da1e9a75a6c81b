/**
 * What an operator asks first: etcd is down, and then it is back. Real nodes and a real gateway, as processes; etcd is frozen, which is the worst way to be down,
 * because its connections stay open and nothing is refused.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startEtcd, type TestServer } from "@keelson/testkit/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";

const TTL_MS = 3_000;
/** Longer than any session lives. */
const OUTAGE_MS = 3 * TTL_MS;

const folder = mkdtempSync(join(tmpdir(), "keelson-outage-"));
let etcd: TestServer;
let gateway: string;
const processes: KeelsonProcess[] = [];

beforeAll(async () => {
  etcd = await startEtcd({ electionMs: 100 });
  const service = ["--service", "counter", "--shared", join(folder, "counts")];
  const start = (command: string, ...args: string[]): KeelsonProcess => {
    const process = new KeelsonProcess([command, "--store", `etcd://127.0.0.1:${etcd.port}`, ...args]);
    processes.push(process);
    return process;
  };
  for (const id of ["a", "b"])
    start("node", "--id", id, "--ttl", `${TTL_MS}ms`, "--data", join(folder, id), ...service);
  const front = start("gateway", "--listen", "127.0.0.1:0", "--service", "counter");
  [, gateway = ""] = await front.says(/(http:\/\/[\d.:]+)/, 30_000);
  await until("every counter answers", async () => (await total()) === 0);
}, 60_000);

afterAll(async () => {
  await stopAll();
  await etcd.stop();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly body: {
    readonly value?: number;
    readonly total?: number;
    readonly error?: { readonly code: string };
  };
}

async function ask(path: string, init: RequestInit = {}, timeoutMs = 1_000): Promise<Answer> {
  const response = await fetch(`${gateway}/v1/counter${path}`, {
    ...init,
    headers: { "content-type": "application/json", "keelson-timeout-ms": `${timeoutMs}` },
    signal: AbortSignal.timeout(10_000),
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

async function total(): Promise<number | undefined> {
  const { status, body } = await ask("");
  return status === 200 ? body.total : undefined;
}

const add = (shard: number): Promise<Answer> =>
  ask(`/${shard}/add`, { method: "POST", body: JSON.stringify({ by: 1 }) });

async function until(what: string, done: () => Promise<boolean>, withinMs = 30_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await done())) {
    if (performance.now() > deadline)
      throw new Error(`${what}: not within ${withinMs} ms\n${processes.map((each) => each.all).join("\n")}`);
    await sleep(50);
  }
}

test("while etcd is down nothing is served past the sessions, and when it is back all goes on by itself", async ({
  onTestFinished,
}) => {
  onTestFinished(() => void process.kill(etcd.pid, "SIGCONT"));
  await until("every counter answers", async () => (await total()) !== undefined);
  let acknowledged = (await total()) ?? 0;
  for (let shard = 0; shard < 12; shard++) {
    expect(await add(shard)).toMatchObject({ status: 200 });
    acknowledged++;
  }

  process.kill(etcd.pid, "SIGSTOP");
  const frozenAt = performance.now();
  // Requests do not touch the store: they go on as before.
  expect(await add(0)).toMatchObject({ status: 200 });
  acknowledged++;
  await sleep(TTL_MS + 1_000);
  // Past the sessions' deadline nobody may answer, because nobody can tell any more whether somebody else does; and every caller is told so, whatever time it has.
  const refused = await Promise.all(
    Array.from({ length: 96 }, (_, n) => (n % 2 === 0 ? ask(`/${n % 12}`, {}, 200 + 8.3 * n) : add(n % 12))),
  );
  expect(refused.filter(({ status }) => status !== 503 && status !== 504)).toEqual([]);
  await sleep(Math.max(0, frozenAt + OUTAGE_MS - performance.now()));

  process.kill(etcd.pid, "SIGCONT");
  await until("every counter answers again", async () => (await total()) === acknowledged);
  expect(await add(0)).toMatchObject({ status: 200 });
  // Nobody had to be restarted, and each node says that the store was away and came back.
  for (const node of processes.slice(0, 2)) {
    await node.says(/the store does not answer/);
    await node.says(/the store answers/);
  }
}, 90_000);
