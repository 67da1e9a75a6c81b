import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLiteral } from "./literal.ts";

/** Reads an escape string as Postgres does. */
function read(literal: string): unknown {
  const inside = /^E'(?<text>(?:[^'\\]|''|\\\\)*)'::jsonb$/s.exec(literal)?.groups?.["text"];
  if (inside === undefined) throw new Error(`${literal} is more than one string`);
  return JSON.parse(inside.replaceAll(/\\\\|''/g, (pair) => pair.slice(1)));
}

test("whatever a value holds, the statement's text is one string that means it", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("'", "\\", '"', "$", "\n", "é", "a", ";", "--") }),
      (text) => {
        expect(read(jsonLiteral([text, { [text]: text }]))).toEqual([text, { [text]: text }]);
      },
    ),
  );
});
