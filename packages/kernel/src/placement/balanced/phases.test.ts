import { describe, expect, test } from "vitest";
import { balanced } from "./balanced.ts";
import { chanceOf, member, memberList, Scene, zipf } from "./fixtures/scene.ts";

const ones = (count: number): number[] => Array.from({ length: count }, () => 1);
const unlimited = { churnMovesMax: Infinity, nodeMovesMax: Infinity, fleetMovesMax: Infinity };
const reasons = (moves: readonly { readonly why: string }[]): string[] => [
  ...new Set(moves.map(({ why }) => why)),
];

/** A settled scene of 40 equal shards on 4 nodes. */
function settled(limits = {}, replicas = 1, zones = 1): Scene {
  const scene = new Scene({ members: memberList(4, zones), loads: ones(40), replicas, limits });
  scene.settle();
  return scene;
}

describe("evacuate and place", () => {
  test("a lost node's replicas are placed at once, whatever the caps say, and nothing else moves", () => {
    const scene = settled({ churnMovesMax: 0, nodeMovesMax: 0, fleetMovesMax: 0 });
    const held = scene.heldBy("n1");
    scene.members = scene.members.filter(({ node }) => node !== "n1");
    const { moves, waiting } = scene.round();
    expect(moves).toHaveLength(held);
    expect(reasons(moves)).toEqual(["lost"]);
    expect(waiting).toEqual([]);
    expect(moves[0]?.because).toMatch(/^n1 is gone; n\d stood at 0.75 × average$/);
    expect(moves[0]?.from).toBeUndefined();
  });

  test("a draining node is emptied as fast as the caps allow, and gets nothing", () => {
    const scene = settled({ nodeMovesMax: 4 });
    const held = scene.heldBy("n2");
    scene.members = scene.members.map((one) => (one.node === "n2" ? { ...one, draining: true } : one));
    const { moves, waiting } = scene.round();
    expect([moves.length, waiting.length]).toEqual([4, held - 4]);
    expect(waiting[0]?.waitsFor).toBe("the 4 moves at a time of n2");
    expect(reasons(scene.settle())).toEqual(["draining"]);
    expect(scene.heldBy("n2")).toBe(0);
  });

  test("moves under way count against the caps and are not changed", () => {
    const scene = settled({ fleetMovesMax: 3 });
    const leaving = scene.placed.flatMap((node, index) => (node === "n0" ? [index] : []));
    const targets = [...scene.placed];
    for (const index of leaving.slice(0, 2)) targets[index] = "n3";
    scene.members = scene.members.map((one) => (one.node === "n0" ? { ...one, draining: true } : one));
    const { moves, targets: after } = balanced(scene.input({ targets }));
    expect(moves).toHaveLength(1);
    for (const index of leaving.slice(0, 2)) expect(after[index]).toBe("n3");
  });

  test("a move whose target is gone is called off: the replica stays with its holder", () => {
    const scene = settled();
    const targets = scene.placed.map((node, index) => (index === 0 ? "gone" : node));
    const { moves, targets: after } = balanced(scene.input({ targets }));
    expect(moves).toEqual([]);
    expect(after[0]).toBe(scene.placed[0]);
  });

  test("what was lost goes to a node that has it prepared, unless that would be too full", () => {
    const scene = settled();
    const index = scene.placed.indexOf("n1");
    scene.members = scene.members.filter(({ node }) => node !== "n1");
    const prefer = (node: string): string | undefined =>
      balanced(scene.input({ preferred: new Map([[index, [node]]]) })).targets[index];
    expect(["n0", "n2", "n3"].map(prefer)).toEqual(["n0", "n2", "n3"]);
    scene.loads[index] = 100;
    expect(prefer("n0")).toBe(prefer("n2"));
  });

  test("in a rolling restart, what leaves a node goes to those that were restarted, though others stand lower", () => {
    const nodes = ["fresh", "old", "leaving"].map((node) =>
      member(node, { restarted: node === "fresh", draining: node === "leaving" }),
    );
    const scene = new Scene({ members: nodes, loads: ones(40), limits: { ceilingShare: 0.21 } });
    const held = (node: string, count: number): string[] => Array.from({ length: count }, () => node);
    scene.placed = [...held("fresh", 20), ...held("old", 15), ...held("leaving", 5)];
    scene.round();
    // Each of the two has 20 on average, and up to 24 within the band.
    expect([scene.heldBy("fresh"), scene.heldBy("old")]).toEqual([24, 16]);
  });

  test("says what is missing when a replica can be nowhere", () => {
    const none = new Scene({ members: [], loads: [1] }).round();
    expect(none.refusals.map(({ because }) => because)).toEqual([
      "no member can get replicas: start a node, or give one a capacity above 0",
    ]);
    const few = new Scene({ members: memberList(1), loads: [1], replicas: 2 }).round();
    expect(
      few.refusals
        .filter(({ kind }) => kind === "unplaced")
        .map(({ replica, because }) => [replica, because]),
    ).toEqual([[1, "2 replicas on distinct nodes need as many nodes that are not draining, and there is 1"]]);
  });
});

describe("hard capacities", () => {
  const dimensions = [{ name: "memory", hard: true }];

  test("are never exceeded; what fits nowhere is refused with what it needs", () => {
    const scene = new Scene({ members: memberList(2, 1, [10]), loads: [8, 7, 3, 3], dimensions });
    const { targets, refusals } = scene.round();
    expect(targets.filter((node) => node === undefined)).toHaveLength(1);
    expect(refusals.find(({ kind }) => kind === "unplaced")?.because).toBe(
      "no node has room for it: it needs 3 of memory; add capacity, split it, or move something else away",
    );
  });

  test("count what is still there: nothing moves into room that another move will make", () => {
    // b is full until one of its two leaves, and only then has room for what a must give away.
    const scene = new Scene({
      members: [
        member("a", { capacity: [10], draining: true }),
        member("b", { capacity: [10] }),
        member("c", { capacity: [12] }),
      ],
      loads: [6, 5, 5, 6],
      dimensions,
      limits: { ceilingShare: 1 },
    });
    scene.placed = ["a", "b", "b", "c"];
    const first = balanced(scene.input());
    for (const { to, index } of first.moves) {
      const there = scene.placed.reduce((sum, node, i) => sum + (node === to ? scene.loads[i]! : 0), 0);
      expect(there + scene.loads[index]!).toBeLessThanOrEqual(
        scene.members.find(({ node }) => node === to)!.capacity[0]!,
      );
    }
  });

  test("a node that has outgrown its capacity hands over, in band or not", () => {
    const scene = new Scene({
      members: memberList(2, 1, [10]),
      loads: [6, 5, 4, 4],
      dimensions,
      limits: { ceilingShare: 5, floorShare: 1 },
    });
    scene.placed = ["n0", "n0", "n1", undefined];
    scene.placed[3] = "n1";
    expect(reasons(scene.settle())).toEqual([]);
    scene.loads[0] = 7;
    const { refusals } = scene.round();
    expect(refusals.map(({ because }) => because)).toEqual([
      "n0 has more than its hard capacity, and nothing on it fits elsewhere: add capacity",
    ]);
    scene.members.push(member("n2", { capacity: [10] }));
    expect(scene.settle()).toHaveLength(1);
  });
});

describe("pins", () => {
  test("are kept through balancing, and a sibling in the way makes way", () => {
    const scene = settled({}, 2);
    const second = scene.placed[1]!;
    scene.pins = [{ shard: "0", replica: 0, node: second }];
    const { moves } = scene.round();
    expect(scene.placed[0]).toBe(second);
    expect(scene.placed[1]).not.toBe(second);
    expect(moves.map(({ why }) => why).sort()).toEqual(["displaced", "pinned"]);
    scene.loads[0] = 30;
    scene.settle();
    expect(scene.placed[0]).toBe(second);
  });

  test("let two replicas of a shard exchange their nodes where there is no other", () => {
    const scene = new Scene({ members: memberList(2, 2), loads: [1], replicas: 2 });
    scene.round();
    const [first, second] = scene.placed;
    scene.pins = [{ shard: "0", replica: 0, node: second! }];
    scene.round();
    expect(scene.placed).toEqual([second, first]);
  });

  test("of no particular replica are met by one that is there already", () => {
    const scene = settled({}, 2);
    scene.pins = [{ shard: "3", node: scene.placed[7]! }];
    expect(scene.round().moves).toEqual([]);
  });

  test.each([
    [{ shard: "0", node: "nobody" }, "shard 0 is pinned to nobody, which is not a member"],
    [{ shard: "77", node: "n0" }, "shard 77 is pinned to n0, but there is no such shard: remove the pin"],
    [
      { shard: "0", replica: 5, node: "n0" },
      "shard 0, replica 5, is pinned to n0, but replicas are numbered 0 to 1: remove the pin",
    ],
  ])("that cannot be kept are refused: %j", (pin, because) => {
    const scene = settled({}, 2);
    scene.pins = [pin];
    expect(scene.round().refusals.map((refusal) => refusal.because)).toEqual([because]);
  });

  test("that contradict each other: the first is kept, the second refused", () => {
    const scene = settled({}, 2);
    scene.pins = [
      { shard: "0", replica: 0, node: "n0" },
      { shard: "0", replica: 0, node: "n1" },
      { shard: "0", replica: 1, node: "n0" },
    ];
    expect(scene.round().refusals.map(({ because }) => because)).toEqual([
      "shard 0, replica 0, is pinned to n1 and to n0: remove one of the pins",
      "shard 0, replica 1, is pinned to n0, where another replica of the shard is pinned",
    ]);
  });
});

describe("zones", () => {
  test("replicas that share one needlessly are spread", () => {
    const scene = new Scene({ members: memberList(6, 3), loads: ones(30), replicas: 2 });
    scene.placed = scene.placed.map((_, index) => (index % 2 === 0 ? "n0" : "n3"));
    expect(reasons(scene.settle())).toContain("zones");
    const zoneOf = new Map(scene.members.map(({ node, zone }) => [node, zone]));
    for (let i = 0; i < 60; i += 2)
      expect(zoneOf.get(scene.placed[i]!)).not.toBe(zoneOf.get(scene.placed[i + 1]!));
  });

  test("of unequal size are filled unequally, and nobody keeps trying to change that", () => {
    // Three replicas in three zones: each zone has one of each, however few nodes it has.
    const members = [...memberList(6, 3), member("m0", { zone: "z0" }), member("m1", { zone: "z0" })];
    const scene = new Scene({ members, loads: zipf(200, 0.5, chanceOf(3)), replicas: 3, limits: unlimited });
    const { refusals } = scene.round();
    expect(refusals).toEqual([]);
    expect(scene.round().moves).toEqual([]);
    const heights = scene.heights();
    expect(heights.get("m0")).toBeCloseTo(8 / 3 / 4, 1);
    expect(heights.get("n1")).toBeCloseTo(8 / 3 / 2, 1);
  });
});

describe("lower, fill and swap", () => {
  test("a shard that becomes hot makes its node hand over others", () => {
    const scene = settled({ ceilingShare: 0.1 });
    const hot = scene.placed[0]!;
    scene.loads[0] = 5;
    const moves = scene.settle();
    expect(reasons(moves)).toEqual(["peak"]);
    expect(moves[0]?.because).toMatch(
      /^n\d stood at 1.27 × average, its ceiling is 1.10 × average; n\d stood at 0.91 × average$/,
    );
    expect(scene.heights().get(hot)).toBeLessThanOrEqual(1.1);
  });

  test("a new node is filled to its floor", () => {
    const scene = settled({ ceilingShare: 0.5 });
    scene.members.push(member("new"));
    const moves = scene.settle();
    expect(reasons(moves)).toEqual(["floor"]);
    expect(moves[0]?.because).toMatch(
      /^new stood at 0.00 × average, its floor is 0.90 × average; n\d stood at 1.25 × average$/,
    );
    expect(moves).toHaveLength(8);
    expect(scene.heights().get("new")).toBeGreaterThanOrEqual(0.9);
  });

  test("two replicas are exchanged where no single move helps, and both or neither begin", () => {
    const scene = new Scene({
      members: memberList(2),
      loads: [6, 5, 3, 4],
      limits: { ceilingShare: 0.04, floorShare: 0.5 },
    });
    scene.placed = ["n0", "n0", "n1", "n1"];
    scene.limits = { ...scene.limits, churnMovesMax: 1 };
    expect(scene.round().moves).toEqual([]);
    scene.limits = { ...scene.limits, churnMovesMax: 2 };
    expect(scene.round().moves.map(({ why }) => why)).toEqual(["swap", "swap"]);
    expect([...scene.heights().values()]).toEqual([1, 1]);
  });

  test("moves for balance keep to the budget of a round, and what waits says so", () => {
    const scene = settled({ churnMovesMax: 3 });
    scene.members.push(member("new"));
    const { moves, waiting } = scene.round();
    expect([moves.length, waiting.length]).toEqual([3, 5]);
    expect(waiting[0]?.waitsFor).toBe("the budget of 3 moves a round");
  });

  test("cheap moves are preferred to costly ones", () => {
    const scene = settled();
    scene.members.push(member("new"));
    const costs = scene.placed.map((_, index) => (index % 8 < 4 ? 1000 : 1));
    const { moves } = balanced(scene.input({ costs }));
    expect(moves.length).toBeGreaterThan(5);
    expect(new Set(moves.map(({ cost }) => cost))).toEqual(new Set([1]));
  });
});

describe("what cannot be had", () => {
  test("a shard heavier than the band allows is named, and the rest is balanced without it", () => {
    const scene = new Scene({ members: memberList(5), loads: [100, ...ones(80)], limits: unlimited });
    const { refusals } = scene.round();
    expect(refusals.map(({ kind }) => kind)).toEqual(["heavy", "ceiling"]);
    expect(refusals[0]?.because).toBe(
      "infeasible, because shard 0 alone is heavier than the band allows: 5.00 × average of load on the largest node, the ceiling is 1.04 × average; split it or add replicas",
    );
    const counts = scene.members.map(({ node }) => scene.heldBy(node)).sort((a, b) => a - b);
    expect(counts).toEqual([1, 20, 20, 20, 20]);
  });

  test("input that makes no sense is an error that says what to do", () => {
    const scene = settled();
    expect(() => balanced(scene.input({ loads: [1] }))).toThrow(
      "loads has 1 entries: give 1 for each of 40 replicas",
    );
    expect(() => balanced(scene.input({ loads: scene.loads.map(() => -1) }))).toThrow("load 0 is -1");
    expect(() => balanced(scene.input({ limits: { ...scene.limits, floorShare: 2 } }))).toThrow(
      "placement option floorShare is 2: make it a number from 0.001 to 1",
    );
  });
});
