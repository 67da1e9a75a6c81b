/**
 * Real nodes are killed while producers and workers go on: nothing that was acknowledged is lost, nothing runs twice at once, and limits hold. Workers live in this
 * process, so what it sees of them is exact; the nodes are processes. `KEELSON_JOBS_FAULTS_S=600` goes on with random kills for so long.
 */
import { afterEach, describe, expect, test } from "vitest";
import { FaultScene, LONG_MS, STORES } from "./fault-scene.ts";
import { Load, pause } from "./load.ts";
import { Witness } from "./witness.ts";

const LIMIT = 2;
const NODES = ["a", "b", "c"];

let scene: FaultScene | undefined;
afterEach(async () => {
  await scene?.stop();
  scene = undefined;
});

/** Random kills, of one node or of all, each followed by its return. */
async function torment({ fleet }: FaultScene, ms: number): Promise<void> {
  for (const until = performance.now() + ms; performance.now() < until;) {
    await pause(Math.random() * 5_000);
    const all = Math.random() < 0.3;
    const killed = all ? [...NODES] : [NODES[Math.floor(Math.random() * NODES.length)]!];
    await Promise.all(killed.map((node) => fleet.kill(node)));
    await pause(Math.random() * 4_000);
    await Promise.all(killed.map((node) => fleet.start(node)));
  }
}

describe.each(Object.keys(STORES))("on %s", (store) => {
  test(
    "nothing that was acknowledged is lost when one node and then all are killed under load",
    async () => {
      scene = await FaultScene.start(store, NODES);
      const { fleet } = scene;
      const witness = new Witness(LIMIT);
      for (let index = 0; index < 2; index += 1)
        (await scene.connect()).worker("work", witness.handler, { concurrency: 20 });
      const load = new Load(await scene.connect(), { lanes: 4, tenants: 12, limit: LIMIT });
      await pause(1_500);
      await fleet.kill("a");
      await pause(1_500);
      await fleet.start("a");
      await pause(500);
      await Promise.all(NODES.map((node) => fleet.kill(node)));
      await Promise.all(NODES.map((node) => fleet.start(node)));
      await pause(1_000);
      if (LONG_MS !== undefined) await torment(scene, LONG_MS);
      await load.stop();
      expect(load.acknowledged.length).toBeGreaterThan(50);
      expect(await load.results()).toEqual(load.expected);
      expect(witness.broken).toEqual([]);
    },
    240_000 + 2 * (LONG_MS ?? 0),
  );
});

test("a flow and a debounced trigger survive the loss of every node", async () => {
  scene = await FaultScene.start("embedded", ["a"]);
  const client = await scene.connect();
  await client.enqueue({ group: "flow", id: "one", payload: 1 });
  await client.enqueue({ group: "flow", id: "two", payload: 2 });
  await client.enqueue({ group: "flow", id: "sum", payload: "sum", after: ["one", "two"] });
  const dedupe = { key: "page", mode: "debounce", waitMs: 3_000, maxWaitMs: 60_000 } as const;
  await client.enqueue({ group: "flow", id: "draft-1", payload: "first", dedupe });
  const last = await client.enqueue({ group: "flow", id: "draft-2", payload: "last", dedupe });
  expect(last.outcome).toBe("joined");
  await scene.fleet.kill("a");
  await scene.fleet.start("a");
  client.worker("flow", ({ payload, inputs }) =>
    payload === "sum" ? inputs.reduce((sum, { result }) => sum + Number(result), 0) : payload,
  );
  expect(await client.job("sum").result()).toBe(3);
  expect(await client.job(last.id).result()).toBe("last");
}, 240_000);
