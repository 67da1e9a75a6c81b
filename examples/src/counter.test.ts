import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodeReply } from "@keelson/kernel";
import { TestFleet } from "@keelson/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { counterService } from "./counter.ts";
import { echoService } from "./echo.ts";

let folder: string;
let fleet: TestFleet;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-counter-"));
  fleet = await TestFleet.start({
    services: [counterService({ folder, shards: 6 }), echoService({ shards: 2 })],
  });
});

afterEach(async () => {
  await fleet.stop();
  await rm(folder, { recursive: true });
});

/** Asks the node that holds the shard right now. */
function ask(service: string, shard: string, method: string, body?: unknown): Promise<NodeReply> {
  const [holder] = fleet.holders(`${service}/${shard}/0`);
  const mode = method === "add" ? "write" : "read";
  return fleet.call(holder!, { service, shard, replica: 0, method, mode, body, timeoutMs: 5_000 });
}

test("counts per shard, and says what it cannot do", async () => {
  expect(await ask("counter", "2", "add", 3)).toMatchObject({ kind: "ok", body: 3 });
  expect(await ask("counter", "2", "add", 4)).toMatchObject({ kind: "ok", body: 7 });
  expect(await ask("counter", "3", "get")).toMatchObject({ kind: "ok", body: 0 });
  expect(await ask("counter", "2", "add", "one")).toMatchObject({ kind: "error", code: "BAD_REQUEST" });
  expect(await ask("echo", "1", "say", "hello")).toMatchObject({ kind: "ok", body: "shard 1 says: hello" });
});

test("goes on counting where the shard is after its node was killed", async () => {
  const [holder] = fleet.holders("counter/2/0");
  await ask("counter", "2", "add", 5);
  fleet.kill(holder!);
  await fleet.allHeld();
  expect(fleet.holders("counter/2/0")[0]).not.toBe(holder);
  expect(await ask("counter", "2", "add", 1)).toMatchObject({ kind: "ok", body: 6 });
});

test("goes on counting where the shard is after its node left", async () => {
  const [holder] = fleet.holders("counter/4/0");
  await ask("counter", "4", "add", 5);
  await fleet.leave(holder!);
  await fleet.allHeld();
  expect(await ask("counter", "4", "get")).toMatchObject({ kind: "ok", body: 5 });
});
