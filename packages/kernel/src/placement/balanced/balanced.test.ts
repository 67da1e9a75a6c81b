import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { balanced } from "./balanced.ts";
import { chanceOf, member, memberList, Scene } from "./fixtures/scene.ts";
import type { BalancedInput } from "./input.ts";

const nodeNames = ["a", "b", "c", "d", "e", "f", "g"];
const places = fc.option(fc.constantFrom(...nodeNames, "gone"), { nil: undefined });

/** Any input at all, sensible or not: holders beside each other, targets that are gone, pins that contradict each other. */
const inputs: fc.Arbitrary<BalancedInput> = fc
  .record({
    shards: fc.integer({ min: 0, max: 14 }),
    replicas: fc.integer({ min: 1, max: 4 }),
    hard: fc.array(fc.boolean(), { minLength: 1, maxLength: 2 }),
    nodes: fc.integer({ min: 0, max: 7 }),
  })
  .chain(({ shards, replicas, hard, nodes }) => {
    const count = shards * replicas;
    const all = <T>(each: fc.Arbitrary<T>, times = count): fc.Arbitrary<T[]> =>
      fc.array(each, { minLength: times, maxLength: times });
    const share = fc.constantFrom(0.01, 0.05, 0.2, 0.9);
    const cap = fc.constantFrom(0, 1, 3, Infinity);
    return fc.record({
      viewN: fc.integer({ min: 0, max: 1000 }),
      dimensions: fc.constant(hard.map((isHard, d) => ({ name: `d${d}`, hard: isHard }))),
      members: all(
        fc.record({
          zone: fc.constantFrom("x", "y", "z"),
          capacity: all(fc.constantFrom(0, 3, 5, 5, 8, 8, 10, 20, 40), hard.length),
          draining: fc.constantFrom(false, false, false, false, true),
          restarted: fc.constantFrom(false, false, true),
        }),
        nodes,
      ).map((list) => list.map((rest, i) => ({ node: nodeNames[i]!, ...rest }))),
      shards: fc.constant(Array.from({ length: shards }, (_, i) => String(i))),
      replicas: fc.constant(replicas),
      loads: all(fc.constantFrom(0, 0.3, 1, 1, 2, 9, NaN), count * hard.length),
      holders: all(places),
      targets: all(places),
      pins: fc.array(
        fc.oneof(
          fc.record({ shard: fc.constantFrom("0", "1", "2", "none"), node: fc.constantFrom(...nodeNames) }),
          fc.record({
            shard: fc.constantFrom("0", "1", "2"),
            replica: fc.integer({ min: 0, max: 4 }),
            node: fc.constantFrom(...nodeNames),
          }),
        ),
        { maxLength: 4 },
      ),
      costs: all(fc.constantFrom(0, 1, 10)),
      limits: fc.record({
        ceilingShare: share,
        floorShare: share,
        churnMovesMax: cap,
        churnCostMax: fc.constantFrom(0, 5, Infinity),
        nodeMovesMax: cap,
        fleetMovesMax: cap,
      }),
    });
  });

/** Fleets in which the band can be reached: light shards, and zones of equal size or one. */
const feasible = fc.record({
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  nodes: fc.integer({ min: 3, max: 8 }),
  zones: fc.constantFrom(1, 1, 3),
  replicas: fc.integer({ min: 1, max: 2 }),
});

function feasibleScene({
  seed,
  nodes,
  zones,
  replicas,
}: {
  seed: number;
  nodes: number;
  zones: number;
  replicas: number;
}): Scene {
  const chance = chanceOf(seed);
  const members = memberList(zones === 1 ? nodes : nodes * 3, zones);
  // 60 replicas a node, the heaviest of which is a fortieth of it: finer than the band of 15 %.
  const loads = Array.from({ length: (members.length * 60) / replicas }, () => 0.5 + chance());
  return new Scene({ members, loads, replicas });
}

/** Found by chance: with a cap of one move per node, half of an exchange was begun in one round and undone in the next. */
const restless: BalancedInput = {
  viewN: 0,
  dimensions: [{ name: "d0", hard: false }],
  members: [
    member("a", { zone: "y", capacity: [3] }),
    member("c", { zone: "z", capacity: [5] }),
    member("f", { zone: "x", capacity: [5] }),
    member("g", { zone: "x", capacity: [20] }),
  ],
  shards: Array.from({ length: 14 }, (_, i) => String(i)),
  replicas: 3,
  loads: [
    1,
    NaN,
    0,
    1,
    0,
    9,
    1,
    0,
    9,
    0,
    1,
    2,
    NaN,
    1,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    1,
    0,
    0,
    0.3,
    9,
    0,
    0,
    0.3,
    0,
    0,
    NaN,
    0,
    0,
    1,
    0,
    2,
    0,
    0,
    0,
    NaN,
  ],
  holders: Array.from({ length: 42 }, (_, i) => (i === 32 || i === 37 ? "f" : undefined)),
  targets: Array.from({ length: 42 }, (_, i) => ({ 8: "a", 9: "g", 14: "g", 22: "f", 26: "a" })[i]),
  pins: [{ shard: "1", replica: 1, node: "g" }],
  costs: Array.from({ length: 42 }, (_, i) => (i === 22 ? 10 : 0)),
  limits: {
    ceilingShare: 0.01,
    floorShare: 0.01,
    churnMovesMax: 3,
    churnCostMax: 5,
    nodeMovesMax: 1,
    fleetMovesMax: Infinity,
  },
};

describe("balanced/1, for any input", () => {
  test("gives a proposal that its own check finds sound", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        expect(() => balanced(input)).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });

  test("comes to rest when its plans are carried out, and then moves nothing", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        let next = input;
        let moving = true;
        for (let round = 0; round < 40 && moving; round++) {
          const { targets, moves } = balanced({ ...next, viewN: round });
          next = { ...input, holders: targets, targets };
          moving = moves.length > 0 || round === 0;
        }
        expect(moving).toBe(false);
      }),
      { numRuns: 300, examples: [[restless]] },
    );
  });

  test("gives the same proposal for the same input, in whatever order members are listed", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        expect(balanced({ ...input, members: input.members.toReversed() })).toEqual(balanced(input));
      }),
      { numRuns: 200 },
    );
  });

  test("begins no more planned moves than the limits allow", () => {
    fc.assert(
      fc.property(inputs, (drawn) => {
        // Two replicas of a shard that one node holds are parted at once, whatever the limits say: not here.
        const holders = drawn.holders.map((node, index, all) =>
          all.slice(index - (index % drawn.replicas), index).includes(node) ? undefined : node,
        );
        const input = { ...drawn, holders, targets: holders };
        const planned = balanced(input).moves.filter(
          ({ why }) => why !== "new" && why !== "lost" && why !== "displaced",
        );
        const { fleetMovesMax, nodeMovesMax, churnMovesMax } = input.limits;
        const balance = planned.filter(({ why }) => why !== "draining" && why !== "pinned");
        expect(balance.length).toBeLessThanOrEqual(churnMovesMax);
        // A pinned replica that nobody holds is placed at once, like any other.
        const handedOver = planned.filter(({ from }) => from !== undefined);
        expect(handedOver.length).toBeLessThanOrEqual(fleetMovesMax);
        for (const node of nodeNames)
          expect(
            handedOver.filter(({ from, to }) => from === node || to === node).length,
          ).toBeLessThanOrEqual(nodeMovesMax);
      }),
      { numRuns: 300 },
    );
  });
});

describe("balanced/1, where the band can be reached", () => {
  /**
   * Local search does not always end in the band: of 30,000 fleets drawn like these 116 were outside it once a node had joined, 93 by less than a ten-thousandth, the others by 0.53 % at most.
   */
  test("reaches it, from nothing and after a node has joined and another was lost, and refuses nothing", () => {
    const missed: { readonly fleet: unknown; readonly byShare: number }[] = [];
    for (const fleet of fc.sample(feasible, 40)) {
      const scene = feasibleScene(fleet);
      const look = (): void => {
        const heights = [...scene.heights().values()];
        const byShare = Math.max(Math.max(...heights) / 1.04 - 1, 1 - Math.min(...heights) / 0.9);
        if (byShare > 1e-4) missed.push({ fleet, byShare });
      };
      expect([fleet, scene.round().refusals]).toEqual([fleet, []]);
      look();
      scene.members.push(member("new", { zone: "z0" }));
      scene.settle();
      look();
      scene.members = scene.members.filter(({ node }) => node !== "n0");
      const held = scene.heldBy("n0");
      expect(scene.settle().length).toBeGreaterThanOrEqual(held);
      look();
    }
    expect(missed.filter(({ byShare }) => byShare > 0.01)).toEqual([]);
    expect(missed.slice(1)).toEqual([]);
  });

  test("moves nothing while loads stay as they are, whatever the view's number", () => {
    fc.assert(
      fc.property(feasible, fc.integer({ min: 2, max: 10_000 }), (fleet, viewN) => {
        const scene = feasibleScene(fleet);
        scene.round();
        expect(balanced(scene.input({ viewN })).moves).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});
