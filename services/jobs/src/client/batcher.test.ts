import { expect, test } from "vitest";
import { Batcher } from "./batcher.ts";

/** Answers each batch when told to. */
function rig(options: ConstructorParameters<typeof Batcher>[1] = {}) {
  const sent: (readonly number[])[] = [];
  const release: (() => void)[] = [];
  const batcher = new Batcher<number, number>((items) => {
    sent.push(items);
    return new Promise((resolve) => {
      release.push(() => resolve(items.map((item) => item * 10)));
    });
  }, options);
  return { batcher, sent, release };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("what one turn adds leaves together, and each gets its own answer", async () => {
  const { batcher, sent, release } = rig();
  const all = Promise.all([1, 2, 3].map((item) => batcher.add(item, 1)));
  await turn();
  expect(sent).toEqual([[1, 2, 3]]);
  release[0]!();
  expect(await all).toEqual([10, 20, 30]);
});

test("what comes while calls are under way shares the next one", async () => {
  const { batcher, sent, release } = rig({ inflightMax: 1 });
  const first = batcher.add(1, 1);
  await turn();
  const rest = Promise.all([2, 3].map((item) => batcher.add(item, 1)));
  await turn();
  expect(sent).toEqual([[1]]);
  release[0]!();
  await first;
  await turn();
  expect(sent).toEqual([[1], [2, 3]]);
  release[1]!();
  expect(await rest).toEqual([20, 30]);
});

test("a batch has at most so many items and bytes, and one that is larger goes alone", async () => {
  const { batcher, sent, release } = rig({ itemsMax: 2, bytesMax: 100, inflightMax: 10 });
  const all = Promise.all(
    [
      [1, 10],
      [2, 10],
      [3, 500],
      [4, 60],
      [5, 60],
    ].map(([item, bytes]) => batcher.add(item!, bytes!)),
  );
  await turn();
  expect(sent).toEqual([[1, 2], [3], [4], [5]]);
  for (const each of release) each();
  expect(await all).toEqual([10, 20, 30, 40, 50]);
});

test("a call that fails fails all of its batch, and the next goes on", async () => {
  let fails = true;
  const batcher = new Batcher<number, number>((items) =>
    fails ? Promise.reject(new Error("cut")) : Promise.resolve(items),
  );
  const outcomes = await Promise.allSettled([batcher.add(1, 1), batcher.add(2, 1)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect(await batcher.add(3, 1)).toBe(3);
});

test("more than may wait is refused", async () => {
  const { batcher } = rig({ waitingMax: 1 });
  void batcher.add(1, 1);
  await expect(batcher.add(2, 1)).rejects.toMatchObject({ code: "OVERLOADED" });
});
