import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encodeData, encodeFence } from "../object/segments.ts";
import { batchLength, checkBatch, decodeBatch, encodeHead, encodeStream, headBytes } from "./batch.ts";
import { decodeFences } from "./fences.ts";
import { HEADER_BYTES, decodeHeader, encodeHeader } from "./segment-header.ts";

const folder = join(import.meta.dirname, "../../../testdata/journal-v1");
const sample = (name: string): Buffer => readFileSync(join(folder, name));

const writer = Buffer.from("0123456789abcdef");
const epoch = { era: 3, revision: 2 ** 40 + 5 };
const fences = [
  { stream: "shard-1", epoch: { era: 2, revision: 7 } },
  { stream: "é/ü", epoch: { era: 3, revision: 1 } },
];
const header = (kind: "data" | "opening" | "fence" | "cut", sequence: number) => ({
  kind,
  sequence,
  opening: 4,
  epoch,
  writer,
  further: kind === "fence" ? 3 : 0,
});
const identity = { sequence: 5, opening: 4, atMs: Date.UTC(2030, 0, 1) };
const records = Buffer.concat([record(0, "one"), record(1, ""), record(0, "three")]);
const lines = [
  { encoded: encodeStream("shard-1", { era: 2, revision: 7 }), records: 2, bytes: 6 + 3 + 6 + 5 },
  { encoded: encodeStream("é/ü", { era: 3, revision: 1 }), records: 1, bytes: 6 },
];

function record(slot: number, text: string): Buffer {
  const head = Buffer.alloc(6);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt16LE(slot, 4);
  return Buffer.concat([head, Buffer.from(text)]);
}

function head(): Buffer {
  const bytes = Buffer.alloc(headBytes(lines));
  encodeHead(bytes, identity, lines, records);
  return bytes;
}

/** Format 1, as it was when it was frozen. A change of these bytes is a new format. */
const made: Readonly<Record<string, Buffer>> = {
  "object-data": encodeData(header("data", 5), { head: head(), records }),
  "object-opening": encodeFence(header("opening", 4), fences),
  "object-fence": encodeFence(header("fence", 6), fences.slice(0, 1)),
  "file-segment": Buffer.concat([encodeHeader(header("data", 5)), head(), records]),
  "file-cut": encodeHeader(header("cut", 6)),
};

test("format 1 is written as it was frozen", () => {
  expect(readdirSync(folder).toSorted()).toEqual(Object.keys(made).toSorted());
  for (const [name, bytes] of Object.entries(made))
    expect([name, bytes.equals(sample(name))]).toEqual([name, true]);
});

test("format 1 is read as it was meant", () => {
  for (const name of ["object-data", "file-segment"]) {
    const bytes = sample(name);
    expect(decodeHeader(bytes, name)).toEqual(header("data", 5));
    const length = batchLength(bytes, HEADER_BYTES)!;
    const batch = bytes.subarray(HEADER_BYTES, HEADER_BYTES + length);
    expect(checkBatch(batch, name)).toEqual(identity);
    expect(decodeBatch(batch, identity, () => true)).toEqual({
      sequence: 5,
      atMs: identity.atMs,
      records: [
        { ...fences[0], bytes: Buffer.from("one") },
        { ...fences[1], bytes: Buffer.alloc(0) },
        { ...fences[0], bytes: Buffer.from("three") },
      ],
    });
  }
  const opening = sample("object-opening");
  expect(decodeHeader(opening, "opening")).toEqual(header("opening", 4));
  expect(decodeFences(opening.subarray(HEADER_BYTES), "opening")).toEqual(fences);
  expect(decodeHeader(sample("file-cut"), "cut")).toEqual(header("cut", 6));
});

test("a batch has an even number of bytes, an opening or fence an odd one", () => {
  expect(sample("object-data").length % 2).toBe(0);
  expect([sample("object-opening").length % 2, sample("object-fence").length % 2]).toEqual([1, 1]);
});

test("any changed bit of a batch, a header or a list of fences is noticed", () => {
  const bytes = sample("file-segment");
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = changed[at]! ^ 1;
    const whole = [decodeHeader(changed, "x"), checkBatch(changed.subarray(HEADER_BYTES), "x")];
    expect(whole.filter((part) => part !== undefined)).toHaveLength(1);
  }
  const list = sample("object-opening").subarray(HEADER_BYTES, -1);
  for (let at = 0; at < list.length; at += 1) {
    const changed = Buffer.from(list);
    changed[at] = changed[at]! ^ 1;
    expect(() => decodeFences(changed, "x")).toThrow(/damaged/);
  }
});
