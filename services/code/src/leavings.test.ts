import { auction, type Shard } from "@keelson/kernel";
import { encodeNumbers, type Catalogue, type KeelsonNode } from "@keelson/runtime";
import { ManualClock, TestFleet } from "@keelson/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Leavings } from "./leavings.ts";

const ID = 7;
const clock = new ManualClock();
let fleet: TestFleet;
let node: KeelsonNode;
let catalogue: Catalogue;
let leavings: Leavings;
let held: boolean;
let stop: () => void;

/** Rows, and the list of those that are to be held. */
async function commit(ids: readonly number[], gone: readonly number[] = []): Promise<void> {
  const { head } = catalogue;
  const report = await catalogue.commit({
    guards: [],
    writes: [
      {
        about: "head",
        value: { v: 1, n: (head?.value.n ?? 0) + 1, shardIds: [], shardNumbers: encodeNumbers(ids) },
      },
      ...ids.map((id) => ({ about: `repo/${id}`, value: { v: 1, id } })),
      ...gone.map((id) => ({ about: `repo/${id}`, value: undefined })),
    ],
  });
  expect(report).toBe("committed");
}

/** What the store has of a repository, by the ends of its keys. */
function left(id: number): string[] {
  const { image } = node.mirror;
  const keys = [`size/${id}`, `poke/${id}`, `indexed/${id}/0`]
    .map((about) => node.keys.catalogue("code", about))
    .concat(
      node.keys.auction("code", "footprint", `code/${id}`),
      node.keys.auction("code", "round", `code/${id}/0`),
    );
  return keys
    .filter((key) => image.get(key) !== undefined)
    .map((key) => /\w+\/\d+(?:\/\d+)?$/.exec(key)?.[0] ?? key);
}

const ALL = [`size/${ID}`, `poke/${ID}`, `indexed/${ID}/0`, `footprint/${ID}`, `round/${ID}/0`];

beforeEach(async () => {
  const shard: Shard = { handle: () => Promise.resolve(null) };
  fleet = new TestFleet({ services: [] });
  const service = {
    name: "code",
    catalogued: true,
    parameters: { shards: 1, shardIds: ["catalogue"], replicas: 1, placement: { graceMs: 1 } },
    placement: auction({ service: "code" }),
    memory: { budgetBytes: 100, freeBytes: () => 100, sizeOf: () => 1 },
    open: () => Promise.resolve(shard),
  };
  node = await fleet.add("a", { services: [service] });
  catalogue = node.catalogue("code");
  held = false;
  leavings = new Leavings({ clock, catalogue, replicas: 1, isHeld: () => held, log: () => undefined });
  stop = leavings.sweeping();
  await commit([ID, 8]);
  for (const about of [`size/${ID}`, `poke/${ID}`, `indexed/${ID}/0`, "poke/8"])
    await catalogue.commit({ guards: [], writes: [{ about, value: { v: 1 } }] });
  const isAllThere = (): boolean => left(ID).length === ALL.length && left(8).length === 3;
  await fleet.until(isAllThere, 20_000, () => `there are ${[...left(ID), ...left(8)].join()}`);
});
afterEach(async () => {
  stop();
  leavings.stop();
  await fleet.stop();
});

/** Time passes, and what is written then has an answer. */
async function pass(ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 500) {
    await clock.advance(500);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

test("what a removed repository left is taken away after a while, and what others have stays", async () => {
  await pass(20_000);
  expect(left(ID)).toEqual(ALL);
  await commit([8], [ID]);
  await pass(8_000);
  expect(left(ID)).toEqual(ALL);
  await pass(5_000);
  await fleet.until(
    () => left(ID).length === 0,
    20_000,
    () => `left are ${left(ID).join()}`,
  );
  expect(left(8)).toHaveLength(3);
});

test("nothing is taken away while somebody holds it, and may write of it still", async () => {
  held = true;
  await commit([8], [ID]);
  await pass(30_000);
  expect(left(ID)).toEqual(ALL);
  held = false;
  await pass(2_000);
  await fleet.until(
    () => left(ID).length === 0,
    20_000,
    () => `left are ${left(ID).join()}`,
  );
});
