import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameSplitter } from "./splitter.ts";

function prefixed(frame: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(frame.length);
  return Buffer.concat([length, frame]);
}

function split(splitter: FrameSplitter, chunks: readonly Buffer[]): string[] {
  const frames: string[] = [];
  for (const chunk of chunks)
    splitter.push(chunk, (bytes, start, end) => frames.push(bytes.toString("hex", start, end)));
  return frames;
}

test("the same frames come out however the bytes are cut", () => {
  const frame = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.uint8Array({ minLength: 5_000, maxLength: 9_000 }),
  );
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), fc.array(fc.nat(12_000)), (frames, cuts) => {
      const stream = Buffer.concat(frames.map(prefixed));
      const chunks: Buffer[] = [];
      let at = 0;
      for (const size of [...cuts, stream.length]) {
        chunks.push(stream.subarray(at, at + size));
        at += size;
      }
      const hex = frames.map((bytes) => Buffer.from(bytes).toString("hex"));
      expect(split(new FrameSplitter(10_000), chunks)).toEqual(hex);
    }),
    { seed: 3, numRuns: 200 },
  );
});

test("one byte at a time is enough", () => {
  const stream = Buffer.concat([prefixed(Buffer.from("one")), prefixed(Buffer.from("two"))]);
  const chunks = Array.from(stream, (byte) => Buffer.from([byte]));
  expect(split(new FrameSplitter(10), chunks)).toEqual(["6f6e65", "74776f"]);
});

test("a frame that announces more than is allowed is refused before its bytes come", () => {
  expect(() => split(new FrameSplitter(1_000), [Buffer.from([0, 0, 3, 0xe9])])).toThrow(/1001 bytes.*1000/);
  expect(() =>
    split(new FrameSplitter(1_000), [Buffer.from([0xff, 0xff]), Buffer.from([0xff, 0xff, 1])]),
  ).toThrow(/4294967295/);
});
