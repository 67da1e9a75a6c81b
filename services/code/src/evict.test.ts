import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseVictims, type EvictionTerms, type Resident } from "./evict.ts";

const terms: EvictionTerms = { policy: "lru", idleMs: 60, residenceMs: 100 };
const NOW = 1_000;

const resident = (id: number, change: Partial<Resident> = {}): Resident => ({
  id,
  memoryBytes: 10,
  pinned: false,
  since: 0,
  lastServedAt: id * 10,
  rate: 1,
  ...change,
});
const ids = (victims: Resident[] | undefined): number[] | undefined => victims?.map(({ id }) => id);

describe("chooseVictims", () => {
  test("takes what was not asked for longest, and no more than is needed", () => {
    expect(ids(chooseVictims([resident(3), resident(1), resident(2)], 15, terms, NOW))).toEqual([1, 2]);
  });

  test("leaves what is pinned, even for a pinned one", () => {
    const all = [resident(1, { pinned: true }), resident(2)];
    expect(ids(chooseVictims(all, 10, terms, NOW))).toEqual([2]);
    expect(chooseVictims(all, 11, terms, NOW, true)).toBeUndefined();
  });

  test("leaves what was asked for or came lately, unless a pinned one needs the room", () => {
    const all = [resident(1, { lastServedAt: NOW - 59 }), resident(2, { since: NOW - 99 })];
    expect(chooseVictims(all, 1, terms, NOW)).toBeUndefined();
    expect(ids(chooseVictims(all, 20, terms, NOW, true))).toEqual([2, 1]);
  });

  test("by cost, takes what is least asked for by its size", () => {
    const all = [resident(1, { rate: 5, memoryBytes: 10 }), resident(2, { rate: 20, memoryBytes: 100 })];
    expect(ids(chooseVictims(all, 10, { ...terms, policy: "cost" }, NOW))).toEqual([2]);
  });

  test("does not take a small one besides when a later large one is enough", () => {
    const all = [resident(1, { memoryBytes: 1 }), resident(2, { memoryBytes: 50 })];
    expect(ids(chooseVictims(all, 50, terms, NOW))).toEqual([2]);
  });

  test("says when there is not enough", () => {
    expect(chooseVictims([resident(1)], 11, terms, NOW)).toBeUndefined();
  });

  test("always frees enough, with nobody taken in vain", () => {
    const some = fc.array(
      fc.record({
        id: fc.nat(),
        memoryBytes: fc.integer({ min: 1, max: 100 }),
        pinned: fc.boolean(),
        since: fc.integer({ min: 0, max: NOW }),
        lastServedAt: fc.integer({ min: 0, max: NOW }),
        rate: fc.nat(),
      }),
    );
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 300 }), (all, need) => {
        const victims = chooseVictims(all, need, terms, NOW);
        if (!victims) return;
        const freed = victims.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
        expect(freed).toBeGreaterThanOrEqual(need);
        for (const { memoryBytes, pinned } of victims) {
          expect(pinned).toBe(false);
          expect(freed - memoryBytes).toBeLessThan(need);
        }
      }),
    );
  });
});
