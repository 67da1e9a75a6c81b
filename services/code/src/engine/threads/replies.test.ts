import { expect, test } from "vitest";
import type { Outcome } from "../search/executor.ts";
import type { PackedHits } from "../search/packed-hits.ts";
import { ReplyPacker, unpackReplies } from "./replies.ts";

function outcome(seed: number, stopped: Outcome["stopped"]): Outcome {
  const [files, lines, matches, documents, documentsScanned, bytesScanned] = [1, 2, 3, 4, 5, 2 ** 40].map(
    (each) => each + seed,
  ) as [number, number, number, number, number, number];
  return { counts: { files, lines, matches, documents, documentsScanned, bytesScanned }, stopped };
}

function hits(seed: number, count: number): PackedHits {
  return {
    count,
    shownBytes: Float64Array.from({ length: count }, (_, i) => seed + i),
    scores: Float64Array.from({ length: count }, (_, i) => seed + i + 0.5),
    words: Uint32Array.from({ length: 3 * count }, (_, i) => seed * 1_000 + i),
  };
}

test.each([1, 2, 5])("%i replies arrive as they were sent", (many) => {
  const sent = Array.from({ length: many }, (_, i) => ({
    job: 2 ** 33 + i,
    reply: {
      ...outcome(i, ([undefined, "matches-max", "interrupted"] as const)[i % 3]),
      hits: hits(i, i % 4),
    },
  }));
  const packer = new ReplyPacker();
  for (const { job, reply } of sent) packer.add(job, reply, reply.hits);
  expect(packer.count).toBe(many);
  expect([...unpackReplies(packer.take())]).toEqual(sent);
  expect([packer.count, packer.bytes]).toEqual([0, 0]);
});

test("one that was asked for no hits has none", () => {
  const packer = new ReplyPacker();
  packer.add(1, outcome(0, undefined), undefined);
  packer.add(2, outcome(1, undefined), hits(1, 1));
  const replies = [...unpackReplies(packer.take())];
  expect(replies.map(({ reply }) => reply.hits?.count)).toEqual([undefined, 1]);
});

test("the last lines of each arrive with it, also where others have none", () => {
  const packer = new ReplyPacker();
  const lines = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);
  packer.add(1, outcome(0, undefined), undefined, lines(1, 2, 3));
  packer.add(2, outcome(1, "matches-max"), undefined);
  packer.add(3, outcome(2, undefined), hits(1, 2));
  packer.add(4, outcome(3, undefined), undefined, lines(4));
  expect(packer.bytes).toBe(4 + 6 * 4);
  const replies = [...unpackReplies(packer.take())];
  expect(replies.map(({ reply }) => reply.tail && [...reply.tail])).toEqual([
    [1, 2, 3],
    undefined,
    undefined,
    [4],
  ]);
  expect(packer.bytes).toBe(0);
});
