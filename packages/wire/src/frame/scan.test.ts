import fc from "fast-check";
import { pack, Packr } from "msgpackr";
import { expect, test } from "vitest";
import { MalformedFrame } from "../errors.ts";
import { scan } from "./scan.ts";

const packr = new Packr({ useRecords: false, variableMapSize: true });

function accepts(bytes: Uint8Array): boolean {
  try {
    scan(bytes, 0, bytes.length);
    return true;
  } catch (error) {
    if (error instanceof MalformedFrame) return false;
    throw error;
  }
}

test("accepts whatever the encoder writes, and no part of it", () => {
  const anything = fc.anything({
    withBigInt: false,
    withDate: true,
    withTypedArray: true,
    withNullPrototype: true,
  });
  fc.assert(
    fc.property(anything, (value) => {
      const bytes = packr.pack(value);
      expect(accepts(bytes)).toBe(true);
      expect(accepts(bytes.subarray(0, -1))).toBe(false);
      expect(accepts(Buffer.concat([bytes, Buffer.from([0])]))).toBe(false);
    }),
    { seed: 7, numRuns: 1_000 },
  );
});

test("answers any bytes with yes or no", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(typeof accepts(bytes)).toBe("boolean");
    }),
    { seed: 7, numRuns: 20_000 },
  );
});

test("refuses lists that each claim to hold all that follows", () => {
  const levels = 500;
  const bytes = Buffer.alloc(levels * 5 + 100_000);
  for (let level = 0; level < levels; level += 1) {
    bytes[level * 5] = 0xdd;
    bytes.writeUInt32BE(bytes.length - level * 5 - 5, level * 5 + 1);
  }
  expect(accepts(bytes)).toBe(false);
});

test("refuses a map whose number of keys and values is more than 32 bits hold", () => {
  expect(accepts(Uint8Array.from([0xdf, 0x80, 0, 0, 0]))).toBe(false);
});

test("refuses nesting that would exhaust a stack", () => {
  expect(accepts(Buffer.alloc(1_000_000, 0x91))).toBe(false);
});

test("refuses more empty maps than are worth their memory", () => {
  const bytes = Buffer.alloc(5 + 2_000_000, 0x80);
  bytes[0] = 0xdd;
  bytes.writeUInt32BE(2_000_000, 1);
  expect(accepts(bytes)).toBe(false);
});

test("refuses extensions that make the decoder do more than build data", () => {
  expect(accepts(pack({ a: 1, b: 2 }))).toBe(true);
  for (const type of [0x42, 0x62, 0x65, 0x69, 0x70, 0x72, 0x73, 0x74, 0x78]) {
    expect(accepts(Uint8Array.from([0xd4, type, 0x40]))).toBe(false);
    expect(accepts(Uint8Array.from([0xc7, 1, type, 0]))).toBe(false);
    expect(accepts(Uint8Array.from([0xd6, type, 0, 0, 0, 0]))).toBe(false);
  }
});
