import { expect, test } from "vitest";
import { BestHits, RECORD_WORDS, type Hit } from "./hit.ts";

const BYTES = 1_000;

function hit(document: number, score: number, records: Uint32Array = new Uint32Array(2 * RECORD_WORDS)): Hit {
  return {
    segment: 0,
    document,
    path: `file-${document}`,
    score,
    atoms: 1,
    matchCount: 2,
    records,
    pathRanges: [],
    shownBytes: 300,
  };
}

function withMatches(hits: readonly Hit[]): number[] {
  return hits.filter(({ records }) => records.length > 0).map(({ document }) => document);
}

test("keeps matches only of the best files that fill an answer, and the last of them goes beyond it", () => {
  const best = new BestHits(1_000, BYTES);
  for (let document = 0; document < 100; document += 1) best.add(hit(document, document));
  const sorted = best.sorted();
  expect(sorted.map(({ document }) => document)).toEqual(Array.from({ length: 100 }, (_, i) => 99 - i));
  expect(withMatches(sorted)).toEqual([99, 98, 97, 96]);
  expect(sorted.every(({ matchCount }) => matchCount === 2)).toBe(true);
});

test("keeps the matches of every file when an answer may be of any size", () => {
  const best = new BestHits(1_000, Number.MAX_SAFE_INTEGER);
  for (let document = 0; document < 100; document += 1) best.add(hit(document, document));
  expect(withMatches(best.sorted())).toHaveLength(100);
});

test("keeps the best of a given number, in any order in which they come", () => {
  const best = new BestHits(3, BYTES);
  for (let document = 0; document < 500; document += 1) best.add(hit(document, (document * 7) % 500));
  expect(best.sorted().map(({ score }) => score)).toEqual([499, 498, 497]);
});

test("a document without matches takes no room, before any other has", () => {
  const best = new BestHits(10, BYTES);
  expect(best.room.take(0)).toHaveLength(0);
});

test("what is kept stays as it was when the room of the rest is used again", () => {
  for (const first of [1_000, 2_000]) {
    const best = new BestHits(1_000, BYTES);
    for (let document = 0; document < 300; document += 1)
      best.add(hit(document, (document * 7) % 300, best.room.take(2 * RECORD_WORDS).fill(first + document)));
    const kept = best.sorted().filter(({ records }) => records.length > 0);
    expect(kept.map(({ score }) => score)).toEqual([299, 298, 297, 296]);
    for (const { document, records } of kept)
      expect([...records]).toEqual(Array.from({ length: 2 * RECORD_WORDS }, () => first + document));
    best.release();
  }
});
