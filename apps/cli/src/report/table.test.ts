import { expect, test } from "vitest";
import { clip, table, type Column } from "./table.ts";

interface Row {
  readonly name: string;
  readonly count: number;
}

const columns: readonly Column<Row>[] = [
  { title: "NAME", text: ({ name }) => name, flexible: true },
  { title: "COUNT", text: ({ count }) => String(count), right: true },
];
const plain = { bold: (text: string): string => text };

test("words stand to the left, numbers to the right, and no line ends with spaces", () => {
  const rows = [
    { name: "a", count: 5 },
    { name: "longer", count: 12 },
  ];
  expect(table(columns, rows, { ...plain, columnsMax: 0 })).toBe(
    "NAME    COUNT\na           5\nlonger     12",
  );
});

test("what does not fit is cut where it may be, and the line is as long as the terminal", () => {
  const rows = [{ name: "x".repeat(100), count: 1 }];
  const [, line = ""] = table(columns, rows, { ...plain, columnsMax: 30 }).split("\n");
  expect(line).toHaveLength(30);
  expect(line).toMatch(/^x+… {6}1$/);
});

test("a column that may not be cut stays whole, though the line is too long", () => {
  const fixed = [{ title: "NAME", text: ({ name }: Row) => name }];
  expect(table(fixed, [{ name: "x".repeat(50), count: 1 }], { ...plain, columnsMax: 20 })).toContain(
    "x".repeat(50),
  );
});

test("colours do not change the width", () => {
  const painted = [{ ...columns[0]!, paint: (text: string) => `\u001B[1m${text}\u001B[0m` }, columns[1]!];
  const [, line] = table(painted, [{ name: "ab", count: 1 }], { ...plain, columnsMax: 0 }).split("\n");
  expect(line).toBe("\u001B[1mab\u001B[0m        1");
});

test("a cut counts characters, not their halves", () => {
  expect(clip("🚢🚢🚢", 2)).toBe("🚢…");
  expect(clip("ab", 2)).toBe("ab");
});
