import { expect, test } from "vitest";
import { OpenQueue } from "./open-queue.ts";

test("starts no more prepares than allowed, and what is granted goes before what contends", () => {
  const queue = new OpenQueue(2, 10);
  queue.ask("c1", "prepare", false);
  queue.ask("c2", "prepare", false);
  queue.ask("g1", "prepare", true);
  expect(queue.start().map((o) => o.key)).toEqual(["g1", "c1"]);
  expect(queue.start()).toEqual([]);
  queue.done("g1");
  expect(queue.start().map((o) => o.key)).toEqual(["c2"]);
});

test("activations have a limit of their own, and prepares do not hold them up", () => {
  const queue = new OpenQueue(1, 1);
  queue.ask("a", "prepare", true);
  queue.ask("b", "prepare", true);
  queue.ask("c", "activate", true);
  expect(queue.start()).toEqual([
    { key: "c", what: "activate" },
    { key: "a", what: "prepare" },
  ]);
});

test("what is granted while it waits as a contender starts once, before other contenders", () => {
  const queue = new OpenQueue(1, 1);
  queue.ask("a", "prepare", false);
  queue.ask("b", "prepare", false);
  queue.ask("b", "prepare", true);
  expect([queue.waiting, queue.start()]).toEqual([2, [{ key: "b", what: "prepare" }]]);
  queue.done("b");
  expect(queue.start()).toEqual([{ key: "a", what: "prepare" }]);
});

test("what was forgotten does not start, and what runs is not started twice", () => {
  const queue = new OpenQueue(1, 1);
  queue.ask("a", "prepare", false);
  queue.forget("a");
  expect(queue.start()).toEqual([]);
  queue.ask("b", "prepare", false);
  queue.start();
  queue.ask("b", "prepare", true);
  queue.done("b");
  expect(queue.start()).toEqual([]);
  expect(queue.waiting).toBe(0);
});
