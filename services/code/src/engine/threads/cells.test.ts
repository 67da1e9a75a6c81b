import { expect, test } from "vitest";
import { Cells, THROUGH, WITHDRAWN, before, begunBy, cellOf, isBegun, word } from "./cells.ts";

test("a cell is nobody else's until it is given back, and comes back empty", () => {
  const boards: SharedArrayBuffer[] = [];
  const cells = new Cells((number, memory) => {
    boards[number] = memory;
  });
  const taken = Array.from({ length: 1_500 }, () => cells.take());
  expect([new Set(taken.map(({ number }) => number)).size, boards.length]).toEqual([1_500, 2]);
  for (const { number, words } of taken) Atomics.store(words, word.claim, number + 1);
  expect(taken.every(({ number }) => cellOf(boards, number)[word.claim] === number + 1)).toBe(true);
  cells.give(taken[7]!);
  const again = cells.take();
  expect([again.number, [...again.words]]).toEqual([taken[7]!.number, [0, 0, 0, 0]]);
});

test("a thread tells a job from one that had the cell before it, whatever their numbers", () => {
  for (const job of [1, 2, 0xff_ffff, 0x100_0000, 2 ** 31 + 5])
    for (const thread of [0, 1, 63]) {
      const claim = before(thread, job);
      expect([WITHDRAWN, THROUGH, before(thread, job + 1), before(thread + 1, job)]).not.toContain(claim);
      expect([isBegun(claim), isBegun(begunBy(thread, job)), isBegun(WITHDRAWN), isBegun(THROUGH)]).toEqual([
        false,
        true,
        false,
        false,
      ]);
    }
});
