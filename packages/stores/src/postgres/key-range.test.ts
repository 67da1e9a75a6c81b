import fc from "fast-check";
import { expect, test } from "vitest";
import { prefixEnd } from "./key-range.ts";

const bytes = (text: string): Buffer => Buffer.from(text);
const text = fc.string({
  unit: fc.constantFrom("a", "0", "/", "\u{7f}", "\u{7ff}", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10ffff}"),
  maxLength: 4,
});

test("a key is below the end and not below the prefix exactly when it begins with the prefix", () => {
  fc.assert(
    fc.property(text, text, (prefix, key) => {
      const end = prefixEnd(prefix);
      const inside =
        bytes(key).compare(bytes(prefix)) >= 0 && (end === undefined || bytes(key).compare(bytes(end)) < 0);
      expect(inside).toBe(key.startsWith(prefix));
    }),
  );
});

test("an empty prefix has no end, and neither has one of last characters", () => {
  expect([prefixEnd(""), prefixEnd("\u{10ffff}\u{10ffff}"), prefixEnd("/a/")]).toEqual([
    undefined,
    undefined,
    "/a0",
  ]);
});
