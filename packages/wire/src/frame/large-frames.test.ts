import { expect, test } from "vitest";
import { decodeFrame, encodeFrame, LENGTH_BYTES } from "./codec.ts";
import { KIND, type Frame } from "./frame.ts";
import { lendMemory, takeBack } from "./large-frames.ts";

const MIB = 1 << 20;
const bytesMax = 16 * MIB;

function frameOf(fill: number, bytes: number): Buffer {
  const frame: Frame = { kind: KIND.response, id: fill, body: { packed: Buffer.alloc(bytes, fill) } };
  return encodeFrame(frame, bytesMax, bytes);
}

function bodyOf(frame: Buffer): Uint8Array {
  const decoded = decodeFrame(frame, LENGTH_BYTES, frame.length);
  return (decoded as unknown as { body: { packed: Uint8Array } }).body.packed;
}

test("the memory of a large frame is used again once it was written, and not before", () => {
  const [first, second] = [frameOf(1, 3 * MIB), frameOf(2, 3 * MIB)];
  expect(second.buffer).not.toBe(first.buffer);
  takeBack(first);
  const third = frameOf(3, 2 * MIB);
  expect(third.buffer).toBe(first.buffer);
  expect(Buffer.alloc(3 * MIB, 2).equals(bodyOf(second))).toBe(true);
  expect(Buffer.alloc(2 * MIB, 3).equals(bodyOf(third))).toBe(true);
  // Whoever says it twice gives nothing away that is in use.
  takeBack(first);
  takeBack(second);
  takeBack(second);
  const others = [frameOf(4, 2 * MIB), frameOf(5, 2 * MIB)];
  expect(others[0]!.buffer).not.toBe(others[1]!.buffer);
});

test("no frame lies in the memory of a large one, not even after one that could not be packed", () => {
  const large = frameOf(1, MIB);
  const small = encodeFrame({ kind: KIND.response, id: 2, body: "small" }, bytesMax);
  expect(small.buffer).not.toBe(large.buffer);
  const body = { packed: Buffer.alloc(MIB), bad: Symbol("no plain data") };
  expect(() => encodeFrame({ kind: KIND.response, id: 3, body }, bytesMax, MIB)).toThrow("encoded");
  expect(encodeFrame({ kind: KIND.response, id: 4, body: "small" }, bytesMax).buffer.byteLength).toBeLessThan(
    MIB,
  );
});

test("a frame that outgrows what was said of it is whole", () => {
  const body = { packed: Buffer.alloc(4 * MIB, 7) };
  const frame = encodeFrame({ kind: KIND.response, id: 1, body }, bytesMax, MIB);
  expect(body.packed.equals(bodyOf(frame))).toBe(true);
});

test("keeps the memory of two frames, the largest", () => {
  const lent = [1, 4, 2, 3].map((mib) => frameOf(mib, mib * MIB));
  for (const frame of lent) takeBack(frame);
  const again = [lendMemory(MIB), lendMemory(MIB), lendMemory(MIB)].map(({ buffer }) => buffer);
  expect(again.filter((buffer) => lent.some((frame) => frame.buffer === buffer))).toHaveLength(2);
  expect(again).toContain(lent[1]!.buffer);
});
