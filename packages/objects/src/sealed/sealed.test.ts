import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BLOCK_BYTES, DATA_BYTES, sizeOf, storedBytes } from "./layout.ts";
import { Sealer, seal } from "./seal.ts";
import { requireSize, storedRange, unseal, unsealRange } from "./unseal.ts";

const testdata = join(import.meta.dirname, "../../testdata");

/** Bytes that differ from block to block. */
function sample(sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sizeBytes);
  for (let at = 0; at < sizeBytes; at += 1) bytes[at] = (at * 7 + (at >> 8) * 13) & 255;
  return bytes;
}

/** Sizes about the edges of blocks. */
const size = fc.oneof(
  fc.constantFrom(0, 1, DATA_BYTES - 1, DATA_BYTES, DATA_BYTES + 1, 2 * DATA_BYTES, 3 * DATA_BYTES + 5),
  fc.integer({ min: 0, max: 4 * DATA_BYTES }),
);

describe("sealed bytes", () => {
  test("come back as they were, whatever their number", () => {
    fc.assert(
      fc.property(size, (sizeBytes) => {
        const bytes = sample(sizeBytes);
        const stored = seal(bytes);
        expect(stored).toHaveLength(storedBytes(sizeBytes));
        expect(sizeOf(stored.length)).toBe(sizeBytes);
        expect(unseal(stored, "x").equals(bytes)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  test("are the same when they are sealed in pieces", () => {
    fc.assert(
      fc.property(size, fc.integer({ min: 1, max: 2 * DATA_BYTES }), (sizeBytes, pieceBytes) => {
        const bytes = sample(sizeBytes);
        const sealer = new Sealer(2 * BLOCK_BYTES);
        const parts: Buffer[] = [];
        for (let at = 0; at < sizeBytes; at += pieceBytes)
          parts.push(...sealer.add(bytes.subarray(at, at + pieceBytes)));
        expect(parts.every((part) => part.length === 2 * BLOCK_BYTES)).toBe(true);
        parts.push(sealer.end());
        expect(Buffer.concat(parts).equals(seal(bytes))).toBe(true);
        expect(sealer.sizeBytes).toBe(sizeBytes);
      }),
      { numRuns: 40 },
    );
  });

  test("give any range from the blocks it lies in", () => {
    fc.assert(
      fc.property(size, size, size, (sizeBytes, offset, lengthBytes) => {
        const bytes = sample(sizeBytes);
        const range = storedRange(offset, lengthBytes);
        const stored = Buffer.from(seal(bytes).subarray(range.from, range.to));
        const got = unsealRange(stored, range, offset, lengthBytes, sizeBytes, "x");
        expect(got.equals(bytes.subarray(offset, offset + lengthBytes))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test("with any byte changed are refused", () => {
    const whole = seal(sample(300));
    for (let at = 0; at < whole.length; at += 1) {
      const stored = Buffer.from(whole);
      stored[at] = stored[at]! ^ 0x10;
      expect(() => unseal(stored, "x")).toThrow(expect.objectContaining({ code: "OBJECT_CORRUPT" }));
    }
  });

  test("cut short anywhere are refused, also between two blocks", () => {
    const whole = seal(sample(2 * DATA_BYTES + 9));
    const cuts = [0, 5, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 3, 2 * BLOCK_BYTES, whole.length - 1];
    for (const cut of cuts) expect(() => unseal(Buffer.from(whole.subarray(0, cut)), "x")).toThrow(/damaged/);
  });

  test("with two blocks exchanged, or one too many, are refused", () => {
    const whole = seal(sample(3 * DATA_BYTES));
    const [a, b, c] = [0, 1, 2].map((n) => whole.subarray(n * BLOCK_BYTES, (n + 1) * BLOCK_BYTES));
    expect(() => unseal(Buffer.concat([b!, a!, c!]), "x")).toThrow(/block 0 is block 1/);
    expect(() => unseal(Buffer.concat([a!, b!, c!, c!]), "x")).toThrow(/goes on after block 2/);
  });

  test("of a later format are refused, and not called damaged", () => {
    // The sample of format 2 has a right checksum.
    const later = readFileSync(join(testdata, "sealed-v2"));
    expect(() => unseal(later, "x")).toThrow(expect.objectContaining({ code: "OBJECT_REJECTED" }));
  });

  test("in format 1 are what the frozen samples hold", () => {
    expect(readFileSync(join(testdata, "sealed-v1-empty")).equals(seal(Buffer.alloc(0)))).toBe(true);
    expect(readFileSync(join(testdata, "sealed-v1-hello")).equals(seal(Buffer.from("hello")))).toBe(true);
    expect(
      createHash("sha256")
        .update(seal(sample(200_000)))
        .digest("hex"),
    ).toBe(readFileSync(join(testdata, "sealed-v1-200000.sha256"), "utf8").trim());
  });
});

test("a stored size that no object has is refused", () => {
  for (const stored of [0, 7, BLOCK_BYTES + 1, BLOCK_BYTES + 8])
    expect(() => requireSize(stored, "x")).toThrow(expect.objectContaining({ code: "OBJECT_CORRUPT" }));
});
