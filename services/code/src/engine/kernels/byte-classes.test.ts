import { expect, test } from "vitest";
import { byteClasses, gramOf } from "./byte-classes.ts";
import { CLASSES_AT, RESERVED_BYTES, openKernels } from "./kernels.ts";
import { createMemory } from "./wasm.ts";

const GRAMS = 262_144;
const TEXT_BYTES = 8_192;

/** The grams that the kernels find in a text of one block. */
function extracted(text: Uint8Array): Set<number> {
  const memory = createMemory(RESERVED_BYTES + GRAMS * 5 + TEXT_BYTES * 8);
  const kernels = openKernels(memory);
  const seen = RESERVED_BYTES;
  const counts = seen + GRAMS;
  const perBlock = counts + GRAMS * 4;
  const at = perBlock + 64;
  const list = at + TEXT_BYTES * 2;
  new Uint8Array(memory.buffer).set(text, at);
  const end = kernels.extract(at, at + text.length, 13, 61, CLASSES_AT, seen, counts, list, perBlock);
  return new Set(new Uint32Array(memory.buffer, list, (end - list) / 4));
}

function expected(text: Uint8Array): Set<number> {
  const classes = Array.from(text, (byte) => byteClasses[byte]!);
  return new Set(classes.slice(2).map((z, i) => gramOf(classes[i]!, classes[i + 1]!, z)));
}

test.each([
  ["ASCII", "int main(void) {\n\treturn foo[42] | BAR != ~$x;\n}\n".repeat(7)],
  ["some characters beyond it", `naïve café, ${"x".repeat(40)} Ünïcode ${"y".repeat(15)}é`],
  ["other scripts", "Привет, мир! 中文文件 日本語のテスト αβγ 한국어 😀\n".repeat(9)],
  ["three bytes", "中"],
  ["two bytes", "é"],
  ["nothing", ""],
])("the kernels number the grams of %s as the plans do", (_, text) => {
  const bytes = Buffer.from(text);
  expect(extracted(bytes)).toEqual(expected(bytes));
});

test("bytes that are no UTF-8 have grams too", () => {
  const bytes = Uint8Array.from({ length: 4_096 }, (_, i) => (i * 167 + (i >> 4) * 31) & 255);
  expect(extracted(bytes)).toEqual(expected(bytes));
});

test("no gram with a byte beyond ASCII is one of ASCII alone", () => {
  const classes = [...new Set(byteClasses)];
  expect(Math.max(...classes.filter((each) => each < 128))).toBeLessThan(60);
  for (const beyond of [128, 191, 195, 228, 255]) {
    for (const each of classes) {
      expect(gramOf(beyond, each, 0) >>> 12).toBeGreaterThanOrEqual(60);
      expect((gramOf(0, beyond, each) >>> 6) & 63).toBeGreaterThanOrEqual(60);
    }
    expect(gramOf(0, 0, beyond) & 63).toBeGreaterThanOrEqual(60);
    expect(gramOf(0, 0, beyond) >>> 12).toBe(0);
  }
});
