import fc from "fast-check";
import { expect, test } from "vitest";
import { above, prefixRange, type KeyRange } from "./key-range.ts";

function contains({ key, end }: KeyRange, text: string): boolean {
  const bytes = Buffer.from(text);
  const open = end.equals(Buffer.from([0]));
  return bytes.compare(key) >= 0 && (open || bytes.compare(end) < 0);
}

/** Text with characters below and above those that UTF-16 writes in two halves: their order by bytes and as text differs. */
const text = fc.string({
  unit: fc.constantFrom("a", "b", "/", "é", "\u{ffff}", "𝄞", "\u0001"),
  minLength: 1,
  maxLength: 4,
});

test("a prefix's range has the keys that begin with it, and no others", () => {
  fc.assert(
    fc.property(text, text, (prefix, key) => {
      expect(contains(prefixRange(prefix), key)).toBe(key.startsWith(prefix));
    }),
    { seed: 3, numRuns: 3_000 },
  );
});

test("what is above a key is all of the range that is greater by its bytes", () => {
  fc.assert(
    fc.property(text, text, text, (prefix, after, key) => {
      const part = above(prefixRange(prefix), after);
      const wanted = key.startsWith(prefix) && Buffer.from(key).compare(Buffer.from(after)) > 0;
      expect(part !== undefined && contains(part, key)).toBe(wanted);
    }),
    { seed: 3, numRuns: 3_000 },
  );
});

test("no prefix means all keys", () => {
  expect(contains(prefixRange(""), "\u0001")).toBe(true);
  expect(contains(prefixRange(""), "𝄞")).toBe(true);
});
