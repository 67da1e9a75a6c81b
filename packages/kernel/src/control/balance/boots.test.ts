import { expect, test } from "vitest";
import { restartedNodes } from "../../placement/balanced/restarts.ts";
import { BootBook } from "./boots.ts";

const member = (node: string, boot: string) => ({ node, boot, version: "1" });
const nodes = ["a", "b", "c"];

test("sees who came back, by its own clock, and who was there before it looked", () => {
  const book = new BootBook("c");
  book.look([member("a", "1"), member("b", "1"), member("c", "1")], undefined, 100);
  book.look([member("b", "1"), member("c", "1")], undefined, 200);
  book.look([member("a", "2"), member("b", "1"), member("c", "1")], undefined, 300);
  expect(book.facts(nodes, 350)).toEqual([
    { node: "a", version: "1", aliveMs: 50, returned: true },
    { node: "b", version: "1", aliveMs: Infinity, returned: false },
    { node: "c", version: "1", aliveMs: Infinity, returned: false },
  ]);
  expect(book.record(restartedNodes(book.facts(nodes, 350), 1_000))).toEqual({ v: 1, boots: { a: "2" } });
});

test("one that was restarted itself takes from the record what it could not see", () => {
  const book = new BootBook("b");
  book.look(
    [member("a", "2"), member("b", "2"), member("c", "1")],
    { v: 1, boots: { a: "2", c: "0" } },
    1_000,
  );
  const facts = book.facts(nodes, 1_000);
  expect([...restartedNodes(facts, 1_000)].sort()).toEqual(["a", "b"]);
});

test("one that was not there when another was away learns from the record that it came back", () => {
  const book = new BootBook("b");
  book.look([member("b", "1"), member("c", "1")], undefined, 0);
  book.look([member("a", "9"), member("b", "1"), member("c", "1")], undefined, 10);
  expect(book.facts(["a"], 10)[0]?.returned).toBe(false);
  book.look([member("a", "9"), member("b", "1"), member("c", "1")], { v: 1, boots: { a: "9" } }, 20);
  expect(book.facts(["a"], 20)).toEqual([{ node: "a", version: "1", aliveMs: 10, returned: true }]);
});

test("remembers nodes that are gone, but not more than a thousand", () => {
  const book = new BootBook("x");
  for (let i = 0; i < 1_500; i++) book.look([member(`n${i}`, "1")], undefined, i);
  book.look([member("n0", "2"), member("n1499", "2")], undefined, 2_000);
  expect(book.facts(["n0", "n1499"], 2_000).map(({ returned }) => returned)).toEqual([false, true]);
});
