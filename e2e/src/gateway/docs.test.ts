import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { GATEWAY_LIMITS, PROBLEMS } from "@keelson/gateway";
import { expect, test } from "vitest";

/** docs/reference/http.md and the code say the same, both ways. */
const text = readFileSync(fileURLToPath(new URL("../../../docs/reference/http.md", import.meta.url)), "utf8");

/** The cells of the table under a heading. */
function table(heading: string): string[][] {
  const part = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
  const rows = part.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) =>
    row
      .split(" | ")
      .map((cell) => cell.replaceAll(/^\| | \|$/g, "").trim())
      .map((cell) => (/^`[^`]*`$/.test(cell) ? cell.slice(1, -1) : cell)),
  );
}

test("every error code is in its table with its status and meaning", () => {
  const code = Object.entries(PROBLEMS).map(([name, { status, about }]) => [name, String(status), about]);
  expect(table("Errors")).toEqual(code);
});

test("every limit is in its table with its default", () => {
  expect(table("Limits").map(([name, value]) => [name, Number(value)])).toEqual(
    Object.entries(GATEWAY_LIMITS),
  );
});
