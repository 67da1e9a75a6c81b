import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessFleet } from "./process/fleet-access.ts";
import { KeelsonProcess, stopAll } from "./process/keelson-process.ts";
import { startStore } from "./process/store-process.ts";

/** Much longer than anything here takes: whoever had to wait for it would fail the test. */
const TTL = "20s";
const SHARDS = Array.from({ length: 12 }, (_, n) => String(n));

const folder = mkdtempSync(join(tmpdir(), "keelson-nodes-"));
let url: string;
let address: string;

beforeAll(async () => {
  ({ url, address } = await startStore(join(folder, "store")));
});

afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true });
});

function node(fleet: string, id: string, ...more: string[]): KeelsonProcess {
  return new KeelsonProcess(["node", "--store", url, "--fleet", fleet, "--id", id, ...more]);
}

function service(name: string): string {
  return fileURLToPath(new URL(`../services/${name}.mjs`, import.meta.url));
}

/** The first node of a fleet waits one TTL before it opens the first era. One with a short TTL does that for the others. */
async function openFleet(fleet: string): Promise<void> {
  const first = node(fleet, "first", "--ttl", "500ms", "--service", service("stubborn"));
  await first.says(/member of the fleet/);
  first.signal("SIGKILL");
  await first.ended;
}

test.concurrent("a node that was killed is back at once with its data folder, and what it acknowledged is there", async ({
  onTestFinished,
}) => {
  await openFleet("crash");
  const args = [
    "--ttl",
    TTL,
    "--service",
    "counter",
    "--shared",
    join(folder, "crash"),
    "--data",
    join(folder, "crash-a"),
  ];
  const before = node("crash", "a", ...args);
  await before.says(/holds counter/);
  const access = accessFleet("crash", address);
  onTestFinished(() => access.close());
  expect(await access.ask("counter", "3", "add", 5)).toBe(5);
  before.signal("SIGKILL");
  await before.ended;
  const from = performance.now();
  node("crash", "a", ...args);
  expect(await access.ask("counter", "3", "add", 2)).toBe(7);
  expect(performance.now() - from).toBeLessThan(10_000);
});

test.concurrent("SIGTERM hands everything over without a failed request, and ends with exit code 0", async ({
  onTestFinished,
}) => {
  await openFleet("drain");
  const args = ["--ttl", TTL, "--service", "counter", "--shared", join(folder, "drain")];
  const a = node("drain", "a", ...args);
  const b = node("drain", "b", ...args);
  await Promise.all([a.says(/holds counter/), b.says(/holds counter/)]);
  const access = accessFleet("drain", address);
  onTestFinished(() => access.close());
  let stopped = false;
  let added = 0;
  const callers = SHARDS.map(async (shard) => {
    while (!stopped) {
      await access.ask("counter", shard, "add", 1);
      added++;
    }
  });
  await Promise.all(SHARDS.map((shard) => access.ask("counter", shard, "get")));
  a.signal("SIGTERM");
  await a.endsWith(0);
  expect(a.stdout.join("\n")).toMatch(/handed over to b: counter/);
  expect(SHARDS.map((shard) => access.client.table.lookup("counter", shard)?.node)).toEqual(
    SHARDS.map(() => "b"),
  );
  stopped = true;
  await Promise.all(callers);
  const counts = await Promise.all(SHARDS.map((shard) => access.ask("counter", shard, "get")));
  expect(counts.reduce<number>((sum, count) => sum + Number(count), 0)).toBe(added);
});

test.concurrent("a second signal ends a node that is still handing over", async () => {
  await openFleet("hurry");
  const stubborn = node("hurry", "a", "--ttl", TTL, "--service", service("stubborn"));
  await stubborn.says(/holds stubborn/);
  stubborn.signal("SIGTERM");
  await stubborn.says(/SIGTERM: leaving; 4 shards to hand over/);
  stubborn.signal("SIGINT");
  expect(await stubborn.ended).toBe(130);
});

test.concurrent("a shard that fails to open is told, and the others are served", async ({
  onTestFinished,
}) => {
  await openFleet("throws");
  const a = node("throws", "a", "--ttl", TTL, "--service", service("throws"));
  await a.says(/failed to open throws 1: its disk is gone; it is tried again, the rest goes on/);
  const access = accessFleet("throws", address);
  onTestFinished(() => access.close());
  expect(await access.ask("throws", "0", "get")).toBe("shard 0");
  await expect(
    access.client.call({
      service: "throws",
      shard: "1",
      method: "get",
      mode: "read",
      body: 0,
      timeoutMs: 500,
    }),
  ).rejects.toMatchObject({ name: "RouterError" });
  a.signal("SIGTERM");
  await a.endsWith(0);
  expect(a.stderr).toEqual([]);
});

test.concurrent("a second node with the same id is told so, and the first goes on", async ({
  onTestFinished,
}) => {
  await openFleet("twins");
  const first = node("twins", "a", "--ttl", TTL, "--service", "echo");
  await first.says(/holds echo/);
  const second = node("twins", "a", "--ttl", "500ms", "--service", "echo");
  await second.endsWith(1);
  expect(second.stderr).toEqual([
    expect.stringMatching(
      /^keelson: node id a is in use by a running process at 127\.0\.0\.1:\d+ .*: stop it, or start this one with another id$/,
    ),
  ]);
  const access = accessFleet("twins", address);
  onTestFinished(() => access.close());
  expect(await access.ask("echo", "0", "say", "hi")).toBe("shard 0 says: hi");
});

test.concurrent("a node that is told to leave while the store is away ends after a TTL, and says what that means", async () => {
  const store = await startStore(join(folder, "store-away"));
  const a = new KeelsonProcess(["node", "--store", store.url, "--id", "a", "--ttl", "500ms"]);
  await a.says(/holds echo/);
  store.process.signal("SIGKILL");
  await store.process.ended;
  a.signal("SIGTERM");
  await a.endsWith(1);
  expect(a.stderr).toEqual([
    expect.stringMatching(
      /^keelson: left without handing over, because the store has not answered for 500 ms: others take the shards over/,
    ),
  ]);
});
