import { expect, test } from "vitest";
import { Hall } from "./fixtures/hall.ts";

const half = (): number => 0.5;
const everyone = (hall: Hall): (string | undefined)[] =>
  [...hall.sizes.keys()].map((shard) => hall.holder(`s/${shard}/0`));

test("a node whose service is suspended bids on nothing, however much memory it has, and holds up nobody's round", () => {
  const hall = new Hall([10, 10], half);
  const { host } = hall.join("a", 1_000);
  host.suspend("s", "no disk", hall.now);
  hall.join("b", 50);
  hall.run(2_000);
  expect(everyone(hall)).toEqual(["b", "b"]);
  expect(hall.broken).toEqual([]);
});

test("it takes back the bid that it had, and bids again once it is resumed", () => {
  const hall = new Hall([10], half);
  const { host } = hall.join("a", 1_000);
  // It is waited for, so that the bid stands for a while.
  hall.join("deaf", 5, 1e9);
  hall.run(20);
  expect(hall.read<{ bid?: unknown }>(hall.keys.auction("s", "bidder", "a"))?.value.bid).toBeDefined();
  host.suspend("s", "no disk", hall.now);
  hall.run(10_000);
  expect(everyone(hall)).toEqual([undefined]);
  host.resume("s");
  hall.run(10_000);
  expect(everyone(hall)).toEqual(["a"]);
});
