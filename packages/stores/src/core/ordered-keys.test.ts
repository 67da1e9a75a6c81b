import fc from "fast-check";
import { expect, test } from "vitest";
import { OrderedKeys } from "./ordered-keys.ts";

const key = fc.string({ unit: fc.constantFrom("a", "b", "c", "/"), minLength: 1, maxLength: 6 });

test("pages are those of a sorted list, whatever was added and removed", () => {
  const steps = fc.array(fc.tuple(fc.boolean(), key), { maxLength: 200 });
  fc.assert(
    fc.property(
      steps,
      key,
      fc.option(key),
      fc.integer({ min: 1, max: 20 }),
      (steps, prefix, after, limit) => {
        const keys = new OrderedKeys();
        const model = new Set<string>();
        for (const [add, each] of steps) {
          if (!add) keys.remove(each);
          else if (!model.has(each)) keys.add(each);
          if (add) model.add(each);
          else model.delete(each);
        }
        const start = prefix.slice(0, 2);
        const matching = [...model]
          .filter((each) => each.startsWith(start) && (after === null || each > after))
          .sort();
        expect(keys.page(start, after ?? undefined, limit)).toEqual({
          keys: matching.slice(0, limit),
          more: matching.length > limit,
        });
      },
    ),
  );
});

test("pages run across many runs", () => {
  const all = Array.from({ length: 5000 }, (_, n) => `k/${String((n * 7919) % 5000).padStart(4, "0")}`);
  const keys = new OrderedKeys();
  for (const each of all) keys.add(each);
  const seen: string[] = [];
  for (let more = true; more;) {
    const page = keys.page("k/", seen.at(-1), 333);
    seen.push(...page.keys);
    more = page.more;
  }
  expect(seen).toEqual(all.toSorted());
  for (const each of all) keys.remove(each);
  expect(keys.page("", undefined, 10)).toEqual({ keys: [], more: false });
});
