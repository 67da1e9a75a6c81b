import fc from "fast-check";
import { expect, test } from "vitest";
import { WakeQueue } from "./wake-queue.ts";

test("names come due in time order, each once, at its latest set time", () => {
  const queue = new WakeQueue();
  queue.set("a", 30);
  queue.set("b", 10);
  queue.set("a", 20);
  expect(queue.next()).toBe(10);
  expect(queue.due(15)).toEqual(["b"]);
  expect(queue.due(40)).toEqual(["a"]);
  expect(queue.next()).toBeUndefined();
});

test("sooner keeps the earlier time, undefined takes the wish back", () => {
  const queue = new WakeQueue();
  queue.sooner("a", 20);
  queue.sooner("a", 30);
  expect(queue.next()).toBe(20);
  queue.set("a", undefined);
  expect(queue.next()).toBeUndefined();
});

test("agrees with a plain map under any sequence of wishes", () => {
  const wish = fc.record({
    name: fc.constantFrom("a", "b", "c", "d"),
    at: fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 60 }), fc.integer({ min: 0, max: 50 }), (wishes, now) => {
      const queue = new WakeQueue();
      const model = new Map<string, number>();
      for (const { name, at } of wishes) {
        queue.set(name, at);
        if (at === undefined) model.delete(name);
        else model.set(name, at);
      }
      const due = [...model].filter(([, at]) => at <= now).map(([name]) => name);
      expect(queue.due(now).sort()).toEqual(due.sort());
      const left = [...model.values()].filter((at) => at > now);
      expect(queue.next()).toBe(left.length === 0 ? undefined : Math.min(...left));
    }),
  );
});
