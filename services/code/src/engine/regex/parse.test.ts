import { expect, test } from "vitest";
import { parseRegex } from "./parse.ts";

const parsed = (pattern: string, withinLines: boolean) =>
  parseRegex(pattern, { caseSensitive: true, withinLines });

test.each([String.raw`\Aab\z`, "(?-m)^ab$", "(?m)^ab$"])(
  "where every line is a text of its own, %s anchors lines",
  (pattern) => {
    expect(parsed(pattern, true)).toEqual(parsed("^ab$", true));
  },
);

test("elsewhere only (?m) anchors lines", () => {
  expect(parsed(String.raw`\Aab\z`, false)).toEqual(parsed("^ab$", false));
  expect(parsed("(?m)^ab$", false)).toEqual(parsed("^ab$", true));
  expect(parsed("^ab$", false)).not.toEqual(parsed("^ab$", true));
});
