import fc from "fast-check";
import { expect, test } from "vitest";
import { maskProse } from "./source.ts";

test.each([
  ["a; // b\nc", "a;     \nc"],
  ["a /* b\nc */ d", "a     \n     d"],
  [`x("it's", 'a "b"')`, `x("    ", '     ')`],
  ["`a ${b + `c ${d}`} e`;", "`  ${b + `  ${d}`}  `;"],
  ["`${{ a: 1 }.a}` + b", "`${{ a: 1 }.a}` + b"],
  [`x.match(/["'/]/) + y`, `x.match(/     /) + y`],
  ["a / b / c", "a / b / c"],
  [String.raw`"a\"b" + c`, `"    " + c`],
])("%j masks to %j", (text, masked) => {
  expect(maskProse(text)).toBe(masked);
});

test("masking keeps every line break and every offset", () => {
  const piece = fc.constantFrom(
    "a",
    " ",
    "\n",
    "'",
    '"',
    "`",
    "${",
    "{",
    "}",
    "/",
    "//",
    "/*",
    "*/",
    "\\",
    "[",
    "]",
    "(",
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join("");
      const masked = maskProse(text);
      expect(masked.length).toBe(text.length);
      expect(masked.replaceAll(/[^\n]/g, "")).toBe(text.replaceAll(/[^\n]/g, ""));
    }),
    { seed: 1, numRuns: 2000 },
  );
});
