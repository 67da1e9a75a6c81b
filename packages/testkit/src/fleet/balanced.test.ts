import { dryRunText, type Decision } from "@keelson/kernel";
import {
  defineService,
  type KeelsonNode,
  type ServiceDeclaration,
  type ServiceDefinition,
} from "@keelson/runtime";
import { afterEach, expect, test } from "vitest";
import { TestFleet } from "./test-fleet.ts";

let fleet: TestFleet | undefined;
afterEach(() => fleet?.stop());

/** Loads as 1, 1/2, 1/3 … of the shards in turn. */
const zipf = (shard: string): number => 100 / (1 + Number(shard));

const options = { calmMs: 300, roundMs: 50, measureMs: 100, halfLifeMs: 50 };

function service(
  changes: Partial<ServiceDeclaration> = {},
  load: (shard: string) => number = zipf,
): ServiceDefinition {
  return defineService({
    name: "s",
    parameters: { shards: 120, replicas: 1, placement: options },
    placement: "balanced",
    open: ({ shard }) =>
      Promise.resolve({
        handle: ({ body }) => Promise.resolve(body),
        stats: () => ({ load: load(shard) }),
      }),
    ...changes,
  });
}

/** What each node holds, in load. */
function loads(of: TestFleet, load: (shard: string) => number = zipf): Map<string, number> {
  const sums = new Map([...of.nodes.keys()].map((name) => [name, 0]));
  for (const replica of of.replicas()) {
    const [holder] = of.holders(replica);
    if (holder !== undefined) sums.set(holder, sums.get(holder)! + load(replica.split("/")[1]!));
  }
  return sums;
}

function highest(of: TestFleet, load?: (shard: string) => number): number {
  const sums = [...loads(of, load).values()];
  return Math.max(...sums) / (sums.reduce((a, b) => a + b, 0) / sums.length);
}

/** The manager, or any node while there is none. */
const manager = (of: TestFleet): KeelsonNode => {
  const nodes = [...of.nodes.values()];
  return nodes.find((node) => node.manages) ?? nodes[0]!;
};
const held = (of: TestFleet, name: string): number => [...of.nodes.get(name)!.held()].length;

async function put(of: TestFleet, key: string, value: unknown): Promise<void> {
  const store = of.store.connect();
  const { incarnation } = await store.range(key, { limit: 1, timeoutMs: 5_000 });
  const outcome = await store.commit(
    { guards: [], writes: [{ kind: "put", key: `/keelson/test/${key}`, value: JSON.stringify(value) }] },
    { incarnation, timeoutMs: 5_000 },
  );
  expect(outcome.kind).toBe("committed");
  await store.close();
}

test("a service that chooses `balanced` ends level by the load that its shards report", async () => {
  // One shard is as heavy as a third of all: a ring would leave its node far above the others.
  fleet = await TestFleet.start({ services: [service()], nodes: 4 });
  const one = fleet;
  // 1.04 is the ceiling; the rest is for loads that are reported with three digits.
  await one.until(
    () => highest(one) <= 1.05,
    20_000,
    () => `the highest node is at ${highest(one).toFixed(3)} of the average`,
  );
  await one.settled(20_000);
  const [chunk] = [...one.nodes.values()].map((node) => node.mirror.image.get("/keelson/test/plan/s/0"));
  expect(JSON.parse(chunk!.value)).toMatchObject({ v: 1, chunk: 0 });
  const reasons = one.replicas().map((replica) => one.nodes.get("a")!.host.lineOf(replica, "s")!.reason);
  expect(reasons.some((reason) => /moved to lower|exchanged|moved to fill/.test(reason))).toBe(true);
});

test("what a killed node held is taken over at once, and the next plan says where it stays", async () => {
  fleet = await TestFleet.start({ services: [service()], nodes: 4 });
  const one = fleet;
  const victim = [...one.nodes.keys()].find((name) => one.nodes.get(name) !== manager(one))!;
  one.kill(victim);
  await one.allHeld(10_000);
  await one.until(
    () => highest(one) <= 1.05,
    15_000,
    () => `the highest node is at ${highest(one).toFixed(3)} of the average`,
  );
  await one.settled();
  expect(one.replicas().every((replica) => one.holders(replica)[0] !== victim)).toBe(true);
});

test("a rolling restart moves a replica 1.2 times, although the manager is restarted too", async () => {
  const even = (): number => 1;
  // Long enough that nothing is moved for balance between two restarts, also on a busy machine.
  const parameters = { shards: 200, replicas: 1, placement: { ...options, calmMs: 8_000 } };
  fleet = await TestFleet.start({ services: [service({ parameters }, even)], nodes: 5 });
  const one = fleet;
  const level = async (): Promise<void> => {
    await one.until(
      () => highest(one, even) <= 1.05,
      40_000,
      () => `the highest node is at ${highest(one, even).toFixed(3)} of the average`,
    );
    await one.settled();
  };
  await level();
  let moves = 0;
  const holder = (replica: string): string | undefined => one.holders(replica)[0];
  let last = new Map(one.replicas().map((replica) => [replica, holder(replica)]));
  const count = (): void => {
    const now = new Map(one.replicas().map((replica) => [replica, holder(replica)]));
    moves += [...now].filter(([replica, node]) => node !== undefined && node !== last.get(replica)).length;
    last = now;
  };
  for (const name of ["a", "b", "c", "d", "e"]) {
    await one.leave(name);
    await one.allHeld();
    count();
    const { mirror } = await one.add(name);
    const noted = (): string => mirror.image.get("/keelson/test/balance/s/restarts")?.value ?? "";
    await one.until(
      () => name === "e" || noted().includes(`"${name}"`),
      10_000,
      () => `nobody noticed that ${name} came back: ${noted()}`,
    );
    count();
  }
  // Nobody is spare: the first node's fifth goes to nodes that are restarted later, and everything moves once.
  expect(moves / 200).toBeGreaterThanOrEqual(1);
  expect(moves / 200).toBeLessThanOrEqual(1.25);
  // The last one came back empty, and is given its share once all is calm.
  await level();
}, 110_000);

test("pins and drains are wishes that the plan follows", async () => {
  fleet = await TestFleet.start({ services: [service()], nodes: 3 });
  const one = fleet;
  const wish = { v: 1, by: "somebody", reason: "a test", since: 0 };
  const away = [...one.nodes.keys()].find((name) => one.holders("s/7/0")[0] !== name)!;
  await put(one, "operator/pin/s/7/0", { ...wish, node: away });
  await one.until(
    () => one.holders("s/7/0")[0] === away,
    10_000,
    () => `7 is on ${one.holders("s/7/0").join()}`,
  );
  expect(one.nodes.get(away)!.explain("s", "7")?.replicas[0]?.planReason).toContain("pinned here");
  const drained = [...one.nodes.keys()].find((name) => name !== away)!;
  one.nodes.get(drained)!.update({ capacity: 0 });
  await one.until(
    () => held(one, drained) === 0,
    10_000,
    () => `${drained} still holds ${held(one, drained)}`,
  );
  await one.allHeld();
});

test("memory that nodes say they have is never planned beyond, and a plan that cannot be had says why", async () => {
  const bytes = (shard: string): number => (shard === "0" ? 50 : 5);
  const memory = { budgetBytes: 110, freeBytes: () => 0, sizeOf: () => 0 };
  fleet = await TestFleet.start({
    nodes: 3,
    services: [
      service({
        memory,
        parameters: { shards: 41, replicas: 1, placement: options },
        open: ({ shard }) =>
          Promise.resolve({
            handle: () => Promise.resolve(null),
            stats: () => ({ sizeBytes: bytes(shard) }),
          }),
      }),
    ],
  });
  const one = fleet;
  const fits = (): boolean => [...loads(one, bytes).values()].every((sum) => sum <= 110);
  await one.until(fits, 15_000, () => JSON.stringify([...loads(one, bytes)]));
  await one.until(
    () => manager(one).planning("s")!.dryRun()?.dimensions[0] === "memory",
    10_000,
    () => "no node has reported yet",
  );
  await one.until(fits, 15_000, () => JSON.stringify([...loads(one, bytes)]));
  expect(dryRunText(manager(one).planning("s")!.dryRun()!)).toContain("plan for view");
});

test("any node can say what a plan would do, and why a replica is where it is", async () => {
  fleet = await TestFleet.start({ services: [service()], nodes: 3 });
  const one = fleet;
  await one.until(
    () => highest(one) <= 1.05,
    20_000,
    () => `${highest(one)}`,
  );
  const { viewN } = manager(one).planning("s")!.dryRun()!;
  expect(viewN).toBe(one.nodes.get("a")!.views.view("s")!.n);
  const why = one.nodes.get("b")!.planning("s")!.why("3", 0)!;
  expect(why.others).toHaveLength(2);
  // Tighter limits than the service's show moves that nobody makes.
  const tight = manager(one)
    .planning("s")!
    .dryRun({ ceilingShare: 0.001, floorShare: 0.001, churnMovesMax: 100 })!;
  expect(tight.moves.length + tight.waiting.length).toBeGreaterThan(0);
  expect(one.nodes.get("a")!.planning("other")).toBeUndefined();
});

test("a ring can have `balanced` as its shadow: the difference is told, and nothing moves", async () => {
  const decisions: Decision[] = [];
  fleet = await TestFleet.start({
    nodes: 3,
    services: [
      service({
        parameters: { shards: 60, replicas: 1, placement: {} },
        placement: "ring",
        shadow: { placement: "balanced", options },
      }),
    ],
    onDecision: (decision) => void decisions.push(decision),
  });
  const one = fleet;
  const told = (): Decision | undefined =>
    decisions.find(({ reason }) => reason.startsWith("shadow of s: it would move"));
  await one.until(
    () => told() !== undefined,
    10_000,
    () => "no word of the shadow",
  );
  await one.until(
    () => (manager(one).planning("s")!.shadow()?.moves.length ?? 0) > 0,
    10_000,
    () => "no difference",
  );
  await one.settled();
  const stored = [...one.nodes.get("a")!.mirror.image.entries()].filter(({ key }) => key.includes("/plan/"));
  expect(stored).toEqual([]);
});

test("a service that names a placement that does not exist, or options that it does not know, is refused", () => {
  expect(() => service({ placement: "balnced" as "balanced" })).toThrow(
    /choose one of ring, balanced, auction, claim/,
  );
  expect(() => service({ parameters: { shards: 1, replicas: 1, placement: { ceiling: 2 } } })).toThrow(
    /"ceiling" is not one of balanced\/1/,
  );
  expect(() => service({ parameters: { shards: 1, replicas: 1, placement: { calmMs: 0 } } })).toThrow(
    /calmMs is 0/,
  );
});
