import { auction, type Shard } from "@keelson/kernel";
import { TestFleet } from "@keelson/testkit";
import { afterEach, expect, test } from "vitest";
import { defineService } from "../service/service.ts";
import type { Catalogue, CatalogueHead } from "./catalogue.ts";

let fleet: TestFleet;
const closed: string[] = [];
afterEach(() => fleet.stop());

const service = defineService({
  name: "s",
  catalogued: true,
  parameters: { shards: 1, shardIds: ["always"], replicas: 1, placement: { graceMs: 1 } },
  placement: auction({ service: "s" }),
  memory: { budgetBytes: 100, freeBytes: () => 100, sizeOf: () => 1 },
  prepare: ({ shard }) =>
    Promise.resolve({
      activate: (): Promise<Shard> => Promise.resolve({ handle: () => Promise.resolve(shard) }),
      close: () => {
        closed.push(shard);
        return Promise.resolve();
      },
    }),
});

async function set(catalogue: Catalogue, shardIds: readonly string[]): Promise<string> {
  const { head } = catalogue;
  const value: CatalogueHead = { v: 1, n: (head?.value.n ?? 0) + 1, shardIds };
  return catalogue.commit({
    guards: [{ about: "head", revision: head?.revision ?? 0 }],
    writes: [{ about: "head", value }],
  });
}

const held = (shard: string): boolean => fleet.holders(`s/${shard}/0`).length === 1;

test("a shard that is listed is held by somebody, and one that is taken off is released and closed", async () => {
  fleet = await TestFleet.start({ services: [service], nodes: 2 });
  const [first] = fleet.nodes.values();
  const catalogue = first!.catalogue("s");
  expect(await set(catalogue, ["x", "y"])).toBe("committed");
  await fleet.until(
    () => held("x") && held("y") && held("always"),
    10_000,
    () => "not all are held",
  );
  expect(await set(catalogue, ["y"])).toBe("committed");
  await fleet.until(
    () => closed.includes("x"),
    10_000,
    () => "x is not closed",
  );
  expect([held("x"), held("y"), held("always")]).toEqual([false, true, true]);
  expect(await set(catalogue, ["y", "x"])).toBe("committed");
  await fleet.until(
    () => held("x"),
    10_000,
    () => "x is not held again",
  );
});

test("a change that rests on an older list is refused", async () => {
  fleet = await TestFleet.start({ services: [service], nodes: 1 });
  const [node] = fleet.nodes.values();
  const catalogue = node!.catalogue("s");
  await set(catalogue, ["x"]);
  const report = await catalogue.commit({
    guards: [{ about: "head", revision: 0 }],
    writes: [{ about: "head", value: { v: 1, n: 9, shardIds: [] } }],
  });
  expect([report, catalogue.head?.value.shardIds]).toEqual(["conflict", ["x"]]);
});

test.each([
  ["writes a record twice", [1, 2].map((n) => ({ about: "note/x", value: { n } })), /twice/],
  ["has too many writes", Array.from({ length: 101 }, (_, i) => ({ about: `note/${i}`, value: 1 })), /101/],
  ["has a record that is too large", [{ about: "note/x", value: "é".repeat(40_000) }], /65536 bytes/],
])("a change that %s is refused, and the node goes on", async (_, writes, why) => {
  fleet = await TestFleet.start({ services: [service], nodes: 1 });
  const [node] = fleet.nodes.values();
  const catalogue = node!.catalogue("s");
  await expect(catalogue.commit({ guards: [], writes })).rejects.toThrow(why);
  expect(await set(catalogue, ["x"])).toBe("committed");
});

test("only the holder may write what is guarded by its tenure", async () => {
  fleet = await TestFleet.start({ services: [service], nodes: 1 });
  const [node] = fleet.nodes.values();
  const catalogue = node!.catalogue("s");
  const [hold] = node!.held();
  const write = (epoch: { era: number; revision: number }): Promise<string> =>
    catalogue.commit({
      guards: [],
      writes: [{ about: "note/always", value: { v: 1 } }],
      holder: { replica: "s/always/0", epoch },
    });
  const { epoch } = hold!;
  expect(await write({ ...epoch, revision: epoch.revision - 1 })).toBe("conflict");
  expect(await write(epoch)).toBe("committed");
  expect(catalogue.get("note/always")?.value).toEqual({ v: 1 });
});
