import { balancedPlacement, terms, type Shard } from "@keelson/kernel";
import { TestFleet } from "@keelson/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fleetMirror } from "../mirror/fleet-mirror.ts";
import type { Mirror } from "../mirror/mirror.ts";
import { defineService } from "../service/service.ts";
import { LocalAdmin } from "./local-admin.ts";

const spread = defineService({
  name: "spread",
  parameters: { shards: 12, replicas: 1, placement: { calmMs: 50, roundMs: 50 } },
  placement: balancedPlacement({ service: "spread" }),
  open: (): Promise<Shard> => Promise.resolve({ handle: ({ body }) => Promise.resolve(body) }),
});
const me = { by: "ann", reason: "it is faster there" };

let fleet: TestFleet;
let mirror: Mirror;
let admin: LocalAdmin;

beforeAll(async () => {
  fleet = await TestFleet.start({ services: [spread] });
  const { clock } = fleet;
  const store = fleet.store.connect();
  mirror = fleetMirror("test", { store, clock, random: Math.random }, terms());
  admin = new LocalAdmin({ fleet: "test", mirror, store, clock, random: Math.random });
  mirror.start();
});

afterAll(async () => {
  admin.close();
  mirror.stop();
  await fleet.stop();
});

async function holder(shard: string): Promise<string | undefined> {
  return (await admin.explain("spread", shard)).replicas[0]?.holder?.node;
}

async function until(done: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error("it never was so");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("a pinned shard goes where it is wanted and is kept there, until it is unpinned", async () => {
  const from = await holder("3");
  const to = from === "a" ? "b" : "a";
  expect(await admin.pin({ service: "spread", shard: "3", replica: 0, node: to }, me)).toMatchObject({
    already: false,
  });
  await until(async () => (await holder("3")) === to);
  expect((await admin.explain("spread", "3")).replicas[0]?.pin).toMatchObject({
    node: to,
    by: "ann",
    kept: true,
  });
  expect((await admin.status()).pins).toHaveLength(1);
  await admin.unpin({ service: "spread", shard: "3", replica: 0 });
  expect((await admin.status()).pins).toEqual([]);
});

test("a moved shard goes where it is wanted, and the wish ends on arrival", async () => {
  const from = await holder("5");
  const to = from === "c" ? "b" : "c";
  await admin.move({ service: "spread", shard: "5", node: to }, me);
  await until(async () => (await holder("5")) === to);
  await until(async () => (await admin.status()).pins.length === 0);
  expect(await admin.unpin({ service: "spread", shard: "5", replica: 0 })).toMatchObject({ already: true });
});

test("a forecast says where the shards of a node would go, and moves no other", async () => {
  const held = (await admin.nodes()).find(({ node }) => node === "a")?.held ?? 0;
  const [forecast] = await admin.forecast({ without: ["a"] });
  expect(forecast?.moves.filter(({ from }) => from === "a")).toHaveLength(held);
  expect(forecast?.nodes.find(({ node }) => node === "a")).toMatchObject({ before: held, after: 0 });
});

test("a drained node of a balanced service ends up empty", async () => {
  await admin.drain("b", me);
  await until(async () => (await admin.nodes()).find(({ node }) => node === "b")?.held === 0);
  await until(async () => (await admin.status()).services[0]?.held === 12);
  expect(await admin.undrain("b")).toMatchObject({ already: false });
});
