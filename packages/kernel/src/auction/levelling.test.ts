import fc from "fast-check";
import { expect, test } from "vitest";
import { imbalance, levelUse, levellingMove, relievingMove, type Load } from "./levelling.ts";

const load = (node: string, budgetBytes: number, usedBytes: number): Load => ({
  node,
  budgetBytes,
  usedBytes,
});

test("with equal budgets the level is the average", () => {
  expect([...levelUse([load("a", 100, 70), load("b", 100, 10)]).values()]).toEqual([40, 40]);
});

test("free memory is levelled, not use: a large node takes more, and a small one nothing while others have more free", () => {
  expect([...levelUse([load("a", 100, 0), load("b", 50, 60)]).values()]).toEqual([55, 5]);
  expect([...levelUse([load("a", 100, 30), load("b", 50, 0)]).values()]).toEqual([30, 0]);
});

test("imbalance is the fullest node's surplus as a share of the average use", () => {
  expect(imbalance([load("a", 100, 60), load("b", 100, 40)])).toBeCloseTo(0.2);
  expect(imbalance([load("a", 100, 50), load("b", 100, 50)])).toBe(0);
  expect(imbalance([load("a", 100, 50)])).toBe(0);
});

test("moves from the fullest what comes nearest to half the gap, and nothing when all is level enough", () => {
  const loads = [load("a", 100, 60), load("b", 100, 20)];
  const movable = [
    { replica: "s/1/0", node: "a", bytes: 5 },
    { replica: "s/2/0", node: "a", bytes: 18 },
    { replica: "s/3/0", node: "a", bytes: 37 },
    { replica: "s/4/0", node: "b", bytes: 20 },
  ];
  expect(levellingMove(loads, movable, 0.05)?.replica).toBe("s/2/0");
  expect(levellingMove(loads, movable, 0.6)).toBeUndefined();
  expect(levellingMove(loads, movable, 0)).toBeUndefined();
  expect(levellingMove(loads, [{ replica: "s/9/0", node: "a", bytes: 39 }], 0.05)).toBeUndefined();
});

test("relieves a node of shards that outgrew it: of the smallest that is enough, or the largest, as far as another node has room", () => {
  const movable = [
    { replica: "s/1/0", node: "a", bytes: 5 },
    { replica: "s/2/0", node: "a", bytes: 30 },
    { replica: "s/3/0", node: "a", bytes: 75 },
    { replica: "s/4/0", node: "b", bytes: 20 },
  ];
  const relief = (used: number, other: number): string | undefined =>
    relievingMove([load("b", 100, other), load("a", 100, used)], movable, () => false)?.replica;
  expect(relief(100, 20)).toBeUndefined();
  expect(relief(110, 20)).toBe("s/2/0");
  expect(relief(150, 20)).toBe("s/3/0");
  expect(relief(150, 60)).toBe("s/2/0");
  expect(relief(150, 99)).toBeUndefined();
});

test("a node is not relieved of what all who have room for it have already", () => {
  const loads = [load("a", 100, 130), load("b", 100, 20), load("c", 100, 85)];
  const movable = [
    { replica: "s/1/0", node: "a", bytes: 40 },
    { replica: "s/2/0", node: "a", bytes: 10 },
  ];
  const has = (...pairs: string[]) => relievingMove(loads, movable, (node, it) => pairs.includes(node + it));
  expect(has()?.replica).toBe("s/1/0");
  expect(has("bs/1/0")?.replica).toBe("s/2/0");
  expect(has("bs/1/0", "bs/2/0")?.replica).toBe("s/2/0");
  expect(has("bs/1/0", "bs/2/0", "cs/2/0")).toBeUndefined();
});

test("the level gives every byte a place, within budgets; moving by it ends, and each move helps", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 40 });
  const budgets = fc.array(fc.constantFrom(400, 800), { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(sizes, budgets, (bytes, capacities) => {
      const names = capacities.map((_, i) => `n${i}`);
      const items = bytes.map((size, i) => ({ replica: `s/${i}/0`, node: names[0]!, bytes: size }));
      const loads = (): Load[] =>
        names.map((node, i) => {
          const used = items.filter((item) => item.node === node).reduce((sum, item) => sum + item.bytes, 0);
          return load(node, capacities[i]!, used);
        });
      const total = bytes.reduce((a, b) => a + b);
      const level = [...levelUse(loads()).values()];
      expect(level.reduce((a, b) => a + b)).toBeCloseTo(total);
      let spread = Infinity;
      for (let moved = 0; ; moved++) {
        expect(moved).toBeLessThanOrEqual(4 * bytes.length);
        const now = loads();
        const to = levelUse(now);
        const squares = now.reduce((sum, each) => sum + (each.usedBytes - to.get(each.node)!) ** 2, 0);
        expect(squares).toBeLessThan(spread);
        spread = squares;
        const move = levellingMove(now, items, 0.05);
        if (!move) break;
        const byNeed = now.sort(
          (a, b) => b.budgetBytes - b.usedBytes - (a.budgetBytes - a.usedBytes) || (a.node < b.node ? -1 : 1),
        );
        items.find(({ replica }) => replica === move.replica)!.node = byNeed[0]!.node;
      }
    }),
    { numRuns: 200 },
  );
});
