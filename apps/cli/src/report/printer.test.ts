import { expect, test } from "vitest";
import { Printer } from "./printer.ts";

const rows = [
  { name: "a", state: "served", problem: "" },
  { name: "b", state: "failing", problem: "the server did not answer: is its address right?" },
];

function printed(json: boolean, below: string | undefined): string {
  const written: string[] = [];
  new Printer(json, (text) => written.push(text)).table(rows, ["name", "state"], below);
  return written.join("");
}

test("what is said below a table is said in full, and of the rows alone that have it", () => {
  const [, , , empty, note, ...rest] = printed(false, "problem").split("\n");
  expect([empty, note, rest]).toEqual(["", "b: the server did not answer: is its address right?", [""]]);
});

test("nothing comes below a table when no row has anything to say there, or nobody asks", () => {
  expect(printed(false, "elsewhere")).toBe(printed(false, undefined));
});

test("as JSON a table is its rows, with all fields", () => {
  expect(JSON.parse(printed(true, "problem"))).toEqual(rows);
});
