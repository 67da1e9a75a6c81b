import {
  auction,
  claim,
  renderExplanation,
  replicaKey,
  setMaxBids,
  type AuctionMachine,
  type Placement,
  type Prepared,
} from "@keelson/kernel";
import { defineService, type KeelsonNode, type NodeOptions, type ServiceDefinition } from "@keelson/runtime";
import { afterEach, expect, test } from "vitest";
import { TestFleet } from "./test-fleet.ts";

let fleet: TestFleet | undefined;
afterEach(() => fleet?.stop());

const MIB = 2 ** 20;

/** One node's index memory: what is prepared on it, and what more there is room for. */
class Shelf {
  readonly sizes: ReadonlyMap<string, number>;
  readonly prepared = new Map<string, number>();
  readonly budgetBytes: number;
  most = 0;

  constructor(sizes: ReadonlyMap<string, number>, budgetBytes: number) {
    this.sizes = sizes;
    this.budgetBytes = budgetBytes;
  }

  get used(): number {
    return [...this.prepared.values()].reduce((a, b) => a + b, 0);
  }

  freeBytes(): number {
    return this.budgetBytes - this.used;
  }

  sizeOf(shard: string): number {
    return this.sizes.get(shard) ?? 0;
  }

  async prepare(shard: string): Promise<Prepared> {
    await new Promise((resolve) => setTimeout(resolve, 2));
    this.prepared.set(shard, this.sizeOf(shard));
    this.most = Math.max(this.most, this.used);
    return {
      activate: () => Promise.resolve({ handle: ({ body }) => Promise.resolve(body) }),
      close: () => Promise.resolve(void this.prepared.delete(shard)),
    };
  }
}

interface Given {
  readonly sizes: readonly number[];
  readonly budgets?: readonly number[];
  readonly budget?: number;
  readonly replicas?: number;
  readonly placement?: Placement;
  readonly options?: ServiceDefinition["parameters"]["placement"];
}

function world(given: Given): {
  fleet: TestFleet;
  shelves: Map<string, Shelf>;
  add: (name: string, options?: Partial<NodeOptions>) => Promise<KeelsonNode>;
} {
  const sizes = new Map(given.sizes.map((bytes, i) => [String(i), bytes]));
  const shelves = new Map<string, Shelf>();
  const service = (shelf: Shelf): ServiceDefinition =>
    defineService({
      name: "code",
      parameters: {
        shards: given.sizes.length,
        replicas: given.replicas ?? 1,
        placement: { graceMs: 20, emptyPauseMs: 20, levelEveryMs: 50, ...given.options },
      },
      placement: given.placement ?? auction({ service: "code" }),
      memory: shelf,
      prepare: ({ shard }) => shelf.prepare(shard),
    });
  const made = new TestFleet({ services: [service(new Shelf(sizes, 0))] });
  const add = (name: string, options: Partial<NodeOptions> = {}): Promise<KeelsonNode> => {
    const shelf = new Shelf(sizes, given.budgets?.[shelves.size] ?? given.budget ?? 1_000 * MIB);
    shelves.set(name, shelf);
    return made.add(name, { services: [service(shelf)], ...options });
  };
  fleet = made;
  return { fleet: made, shelves, add };
}

const machine = (node: KeelsonNode): AuctionMachine => node.auctions.of("code") as AuctionMachine;
const total = (nodes: Iterable<KeelsonNode>, name: keyof AuctionMachine["market"]["counters"]): number =>
  [...nodes].reduce((sum, node) => sum + machine(node).market.counters[name], 0);
const unheld = (of: TestFleet): number =>
  of.replicas().filter((replica) => of.holders(replica).length !== 1).length;

test("every repository is auctioned off, and memory ends level", async () => {
  const { fleet, shelves, add } = world({ sizes: Array.from({ length: 40 }, (_, i) => (1 + (i % 7)) * MIB) });
  await Promise.all(["a", "b", "c", "d"].map((name) => add(name)));
  await fleet.allHeld();
  const used = [...shelves.values()].map((shelf) => shelf.used);
  expect(Math.max(...used) - Math.min(...used)).toBeLessThanOrEqual(14 * MIB);
  const nodes = [...fleet.nodes.values()];
  expect(total(nodes, "auctions_won")).toBeGreaterThanOrEqual(40);
  expect(total(nodes, "auctions_timed_out")).toBe(0);
  expect(total(nodes, "bids_placed")).toBeGreaterThanOrEqual(40);
  const why = fleet.nodes.get("a")!.explain("code", "3")?.replicas[0]?.holder?.reason;
  expect(why).toMatch(/^won round \d+ with [\d.]+ MiB free, .*bid/);
});

test("what another version, or a hand, left below the keys of auctions stops no node", async () => {
  const { fleet, add } = world({ sizes: [10 * MIB, 10 * MIB] });
  const store = fleet.store.connect();
  const { incarnation } = await store.range("/", { limit: 1, timeoutMs: 5_000 });
  const seat = { v: 1, node: "a", boot: "x", session: "x", address: "a:1", budgetBytes: 9 };
  const lastVersion = {
    ...seat,
    bid: { replica: "code/0/0", round: 1, tenure: 0, freeBytes: 5, maxBids: 0 },
  };
  const left: readonly [string, string][] = [
    ["bidder/a", JSON.stringify(lastVersion)],
    ["bidder/b", "{"],
    ["bidder/c", "null"],
    ["round/0/0", "no JSON"],
    ["round/1/0", '{"v":1,"n":"seven"}'],
    ["pass/0/0/a", "[]"],
    ["award/0/0", '"a"'],
    ["move/1/0", ""],
    ["footprint/0", '{"v":1,"bytes":null}'],
    ["override/1", "7"],
    ["config", "{}}"],
    ["evaluator", "{}"],
    ["demand", "true"],
    ["lottery/0", "{}"],
  ];
  const writes = left.map(([about, value]) => ({
    kind: "put" as const,
    key: `/keelson/test/auction/code/${about}`,
    value,
  }));
  await store.commit({ guards: [], writes }, { incarnation, timeoutMs: 5_000 });
  await store.close();
  const ignored: string[] = [];
  const onDecision: NodeOptions["onDecision"] = ({ reason }) => {
    if (reason.startsWith("ignores ")) ignored.push(reason);
  };
  await add("a", { onDecision });
  await add("b");
  await fleet.allHeld();
  expect(ignored).toContain("ignores auction/code/bidder/a: it has no proper bid");
  expect(ignored).toContain("ignores auction/code/round/0/0: it is no object");
  for (const node of ["a", "b"])
    expect(
      fleet.nodes.get(node)!.mirror.image.get(`/keelson/test/auction/code/bidder/${node}`)?.value,
    ).toContain(`"budgetBytes":${1_000 * MIB}`);
  expect(fleet.nodes.get("a")!.explain("code", "0")?.replicas[0]?.holder?.reason).toMatch(/^won round 1 /);
});

test("what a killed node held is auctioned again, and what a leaving one holds is handed over", async () => {
  const { fleet, shelves, add } = world({ sizes: Array.from({ length: 12 }, () => 10 * MIB) });
  for (const name of ["a", "b", "c"]) await add(name);
  await fleet.allHeld();
  fleet.kill("b");
  shelves.delete("b");
  await fleet.until(
    () => unheld(fleet) === 0,
    10_000,
    () => `${unheld(fleet)} unheld after the kill`,
  );
  const handedOver = [...fleet.nodes.get("c")!.held()].length;
  await fleet.leave("c");
  await fleet.allHeld();
  expect(fleet.replicas().every((replica) => fleet.holders(replica)[0] === "a")).toBe(true);
  expect(handedOver).toBeGreaterThan(0);
  const hows = fleet
    .replicas()
    .map((replica) => fleet.nodes.get("a")!.host.facts.replica(replica, 0).tenure?.value.how);
  expect(hows.filter((how) => how === "hand-over")).toHaveLength(handedOver);
});

test("what fits nowhere is passed on by all, demanded, and granted when a node with room joins", async () => {
  const { fleet, shelves, add } = world({
    sizes: [5 * MIB, 50 * MIB, 5 * MIB],
    budgets: [20 * MIB, 20 * MIB, 80 * MIB],
  });
  await add("a");
  await add("b");
  const demand = (): string | undefined =>
    fleet.nodes.get("a")!.mirror.image.get("/keelson/test/auction/code/demand")?.value;
  await fleet.until(
    () => demand() !== undefined,
    10_000,
    () => "no demand",
  );
  expect(JSON.parse(demand()!)).toMatchObject({ count: 1, bytes: 50 * MIB, replicas: ["code/1/0"] });
  expect(unheld(fleet)).toBe(1);
  await add("c");
  await fleet.allHeld();
  expect(fleet.holders("code/1/0")).toEqual(["c"]);
  await fleet.until(
    () => demand() === undefined,
    5_000,
    () => "still demanded",
  );
  for (const shelf of shelves.values()) expect(shelf.most).toBeLessThanOrEqual(shelf.budgetBytes);
});

test("a node that joins is filled from the others, with no request for a move by anyone", async () => {
  const { fleet, shelves, add } = world({ sizes: Array.from({ length: 30 }, () => 10 * MIB) });
  await add("a");
  await add("b");
  await fleet.allHeld();
  await add("c");
  await fleet.until(
    () => (shelves.get("c")?.used ?? 0) >= 90 * MIB,
    10_000,
    () => `c has ${shelves.get("c")!.used / MIB} MiB`,
  );
  await fleet.allHeld();
  expect([...shelves.values()].map((shelf) => shelf.most <= shelf.budgetBytes)).toEqual([true, true, true]);
});

/** Shards with two replicas in one zone, as the nodes that would admit requests have them. */
function crowded(of: TestFleet, shards: number): string[] {
  return Array.from({ length: shards }, (_, i) => String(i)).filter((shard) => {
    const zones = [0, 1].map((replica) => of.holders(replicaKey("code", shard, replica))[0]?.slice(0, 1));
    return zones[0] === undefined || zones[0] === zones[1];
  });
}

test("two replicas of a repository are on distinct nodes, and in distinct zones as long as there are two", async () => {
  const { fleet, shelves, add } = world({
    sizes: Array.from({ length: 12 }, () => 10 * MIB),
    replicas: 2,
    budget: 200 * MIB,
  });
  // The zone is the first letter; zone y has less memory free, and is preferred to x for a second replica all the same.
  for (const name of ["x1", "x2", "y1"]) await add(name, { zone: name.slice(0, 1) });
  await fleet.until(
    () => unheld(fleet) === 0 && crowded(fleet, 12).length === 0,
    15_000,
    () => `not spread: ${crowded(fleet, 12).join(", ")}`,
  );
  expect([...fleet.nodes.get("y1")!.held()]).toHaveLength(12);
  // With the zone gone they share one, on distinct nodes; when it is back, they are spread again.
  fleet.kill("y1");
  shelves.delete("y1");
  await fleet.until(
    () => unheld(fleet) === 0,
    15_000,
    () => `${unheld(fleet)} unheld after the kill`,
  );
  expect(crowded(fleet, 12)).toHaveLength(12);
  const distinct = (shard: number): boolean =>
    fleet.holders(replicaKey("code", String(shard), 0))[0] !==
    fleet.holders(replicaKey("code", String(shard), 1))[0];
  expect(Array.from({ length: 12 }, (_, shard) => distinct(shard))).not.toContain(false);
  await add("y2", { zone: "y" });
  await fleet.until(
    () => unheld(fleet) === 0 && crowded(fleet, 12).length === 0,
    15_000,
    () => `still not spread: ${crowded(fleet, 12).join(", ")}`,
  );
  for (const shelf of shelves.values()) expect(shelf.most).toBeLessThanOrEqual(200 * MIB);
}, 60_000);

test("a replica more than there are nodes is passed on by all, and why is one question away", async () => {
  const { fleet, add } = world({ sizes: [5 * MIB], replicas: 2 });
  const node = await add("a");
  const explained = (): string => {
    const found = node.explain("code", "0");
    return found ? renderExplanation(found, String) : "nothing is planned yet";
  };
  await fleet.until(
    () => explained().includes("can take it (a: has another replica of it)"),
    10_000,
    explained,
  );
  await fleet.until(
    () => node.mirror.image.get("/keelson/test/auction/code/demand") !== undefined,
    10_000,
    () => "no demand",
  );
  expect(unheld(fleet)).toBe(1);
  await add("b");
  await fleet.allHeld();
  expect(explained()).toMatch(/last auction: won round \d+ with [\d.]+ MiB free/);
});

test("a number of answers that nodes were started with is waited for, until the fleet's store names another", async () => {
  const { fleet, add } = world({ sizes: [MIB, MIB], options: { windowMs: 600, levelAt: 0 } });
  const [a] = await Promise.all(["a", "b"].map((name) => add(name, { maxBids: 9 })));
  await fleet.allHeld();
  const nodes = [...fleet.nodes.values()];
  expect(total(nodes, "auctions_timed_out")).toBe(2);
  expect(machine(a!).market.configuredMaxBids({ shardKey: "code/0" })).toBe(9);
  const store = fleet.store.connect();
  const config = setMaxBids(a!.keys, "code", undefined, 2);
  const { incarnation } = await store.range("/", { limit: 1, timeoutMs: 5_000 });
  await store.commit(config, { incarnation, timeoutMs: 5_000 });
  await store.close();
  await fleet.until(
    () => machine(a!).market.configuredMaxBids({ shardKey: "code/0" }) === 2,
    5_000,
    () => "the number is still the old one",
  );
});

test("claims: whoever is first, within memory, and successors take over from a leaver", async () => {
  const { fleet, shelves, add } = world({
    sizes: Array.from({ length: 20 }, () => 10 * MIB),
    budget: 150 * MIB,
    placement: claim({ service: "code" }),
    options: { claimJitterMs: 50 },
  });
  for (const name of ["a", "b", "c"]) await add(name);
  await fleet.allHeld();
  for (const shelf of shelves.values()) expect(shelf.most).toBeLessThanOrEqual(150 * MIB);
  await fleet.leave("b");
  await fleet.allHeld();
  for (const shelf of shelves.values()) expect(shelf.most).toBeLessThanOrEqual(150 * MIB);
  expect(fleet.nodes.get("a")!.explain("code", "1")?.replicas[0]?.holder?.reason).toMatch(/claimed|leaving/);
});

test("a node built for claims refuses a service that is auctioned, and takes nothing", async () => {
  const { fleet, add } = world({ sizes: [MIB, MIB, MIB, MIB] });
  await add("a");
  await fleet.allHeld();
  const reasons: string[] = [];
  const shelf = new Shelf(new Map(), 1_000 * MIB);
  await fleet.add("b", {
    services: [
      defineService({
        name: "code",
        parameters: { shards: 4, replicas: 1, placement: {} },
        placement: claim({ service: "code" }),
        memory: shelf,
        prepare: ({ shard }) => shelf.prepare(shard),
      }),
    ],
    onDecision: ({ kind, reason }) => void (kind === "refused" && reasons.push(reason)),
  });
  fleet.kill("a");
  await fleet.until(
    () => reasons.some((reason) => reason.includes("auction/1")),
    5_000,
    () => reasons.join("; "),
  );
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(fleet.holders(replicaKey("code", "0", 0))).toEqual([]);
  expect(reasons).toContainEqual(
    "the view of code needs placement auction/1, this node knows claim/1: upgrade it",
  );
});

test("an auctioned service that says nothing of memory is refused", () => {
  expect(() =>
    defineService({
      name: "code",
      parameters: { shards: 1, replicas: 1, placement: {} },
      placement: auction({ service: "code" }),
      open: () => Promise.reject(new Error("never")),
    }),
  ).toThrow(/give it a memory, which is what nodes bid/);
  expect(() =>
    defineService({
      name: "code",
      parameters: { shards: 1, replicas: 1, placement: { windowMs: 0 } },
      placement: auction({ service: "code" }),
      memory: new Shelf(new Map(), 1),
      open: () => Promise.reject(new Error("never")),
    }),
  ).toThrow(/windowMs is 0: make it a number from 1/);
});
