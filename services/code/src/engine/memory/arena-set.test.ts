import { expect, test } from "vitest";
import { ArenaSet, type SharedPlace } from "./arena-set.ts";

const CAPACITY_BYTES = 64 << 20;
const RUN_BYTES = 6 << 20;
const PAGE_BYTES = 4_096;

function randomOf(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

/** Runs of at most `RUN_BYTES` that are so much together. */
function* runsOf(bytes: number, random: () => number): Generator<number> {
  for (let left = bytes; left > 0;) {
    const run = Math.min(left, Math.ceil((RUN_BYTES * random()) / PAGE_BYTES) * PAGE_BYTES || PAGE_BYTES);
    yield run;
    left -= run;
  }
}

test.each(Array.from({ length: 8 }, (_, i) => i + 1))(
  "seed %i: no two places overlap, what is said to fit fits whatever its parts, and all of it comes back",
  (seed) => {
    const random = randomOf(seed);
    const set = new ArenaSet(CAPACITY_BYTES, 1);
    const held: SharedPlace[][] = [];
    const drop = (places: readonly SharedPlace[]): void => places.forEach((each) => each.release());
    for (let round = 0; round < 150; round++) {
      // Of very different sizes: mostly small, now and then half of all.
      const bytes = Math.ceil((CAPACITY_BYTES / 2) * random() ** 4);
      while (held.length > 0 && set.roomBytes(RUN_BYTES) < bytes)
        drop(held.splice(Math.floor(random() * held.length), 1)[0]!);
      held.push([...runsOf(bytes, random)].map((run) => set.allocate(run)));
      const room = Math.floor(set.roomBytes(RUN_BYTES) / PAGE_BYTES) * PAGE_BYTES;
      drop([...runsOf(room, random)].map((run) => set.allocate(run)));
      const places = held.flat().map(({ place }) => place);
      places.sort((a, b) => a.start - b.start);
      const overlaps = places.filter(
        ({ start, bytes: length }, i) => start + length > (places[i + 1]?.start ?? Infinity),
      );
      expect(overlaps).toEqual([]);
      const pages = places.reduce((sum, each) => sum + Math.ceil(each.bytes / PAGE_BYTES), 0);
      expect(set.usedBytes).toBe(pages * PAGE_BYTES);
    }
    held.forEach(drop);
    expect([set.usedBytes, set.roomBytes(RUN_BYTES)]).toEqual([0, set.budgetBytes]);
  },
);

test("gaps that are smaller than a part are no room for a repository of several parts", () => {
  const set = new ArenaSet(CAPACITY_BYTES, 1);
  const places = Array.from({ length: 32 }, () => set.allocate(CAPACITY_BYTES / 32));
  for (const [i, place] of places.entries()) if (i % 2 === 0) place.release();
  expect(set.budgetBytes - set.usedBytes).toBe(CAPACITY_BYTES / 2);
  expect(set.roomBytes(RUN_BYTES)).toBe(CAPACITY_BYTES / 32);
});
