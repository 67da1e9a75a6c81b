import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GOAWAY_CODES, WIRE_FAILURE_CODES } from "./errors.ts";
import { KIND } from "./frame/frame.ts";
import { DEFAULT_LIMITS } from "./limits.ts";

/** docs/design/wire.md and the code say the same, both ways. */
const text = readFileSync(join(import.meta.dirname, "../../../docs/design/wire.md"), "utf8");

/** The cells of each row of the table whose head begins with `head`. */
function table(head: string, after = ""): string[][] {
  const lines = text.slice(text.indexOf(after)).split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  const rows = lines.slice(start + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith("|")),
    )
    .map((row) =>
      row
        .split("|")
        .map((cell) => cell.trim().replaceAll("`", ""))
        .slice(1, -1),
    );
}

test("every kind of frame is in the table with its number", () => {
  const documented = table("kind").map(([name, value]) => [name, Number(value)]);
  expect(documented).toEqual(Object.entries(KIND));
});

test("every failure code is in its table", () => {
  const documented = table("code", "Failure codes that wire itself gives").map(([code]) => code);
  expect(documented).toEqual(WIRE_FAILURE_CODES);
});

test("every goaway code is in its table", () => {
  const documented = table("code", "Goaway codes").map(([code]) => code);
  expect(documented).toEqual(GOAWAY_CODES);
});

test("every limit is in the table with its default", () => {
  const documented = table("limit").map(([name, value]) => [name, Number(value)]);
  expect(documented).toEqual(Object.entries(DEFAULT_LIMITS));
});
