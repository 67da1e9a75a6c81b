import { expect, test } from "vitest";
import { FleetModel } from "../feed/model.ts";
import { layOut } from "./layout.ts";
import { walk } from "./walk.ts";

/** Four nodes in two rows, with six replicas each. */
const model = new FleetModel("test");
const count = 24;
const column = (value: number): number[] => Array.from({ length: count }, () => value);
model.apply({
  kind: "changes",
  at: 0,
  added: [{ service: 0, from: 0, replicas: 1, shards: { from: 0, count } }],
  rows: {
    i: Array.from({ length: count }, (_, i) => i),
    holder: Array.from({ length: count }, (_, i) => Math.floor(i / 6)),
    target: column(-1),
    state: "h".repeat(count),
    era: column(1),
    revision: column(1),
    since: column(1),
    strikes: column(0),
  },
});
const layout = layOut({
  width: 320,
  height: 600,
  nodes: [0, 1, 2, 3].map((node) => ({ node, seats: 6 })),
  nobody: 0,
});
const nodeOf = (i: number | undefined): number => model.holder[i ?? -1] ?? -1;

test("begins at the first replica, whatever arrow is pressed", () => {
  expect(walk(model, layout, undefined, "ArrowDown")).toBe(0);
  expect(walk(model, layout, undefined, "x")).toBeUndefined();
});

test("goes through a tile, and over its edge into the next", () => {
  const second = layout.tiles[1]!;
  expect(second.y).toBe(layout.tiles[0]!.y);
  let at: number | undefined = 0;
  for (let step = 0; step < second.columns; step++) at = walk(model, layout, at, "ArrowRight");
  expect(nodeOf(at)).toBe(1);
  expect(nodeOf(walk(model, layout, at, "ArrowLeft"))).toBe(0);
});

test("goes down into the tile below, and no further than there is anything", () => {
  let at: number | undefined = 0;
  for (let step = 0; step < 20; step++) at = walk(model, layout, at, "ArrowDown");
  const lowest = layout.tiles.reduce((most, { y }) => Math.max(most, y), 0);
  expect(layout.tiles.find(({ node }) => node === nodeOf(at))?.y).toBe(lowest);
});

test("page keys go from node to node", () => {
  expect(nodeOf(walk(model, layout, 0, "PageDown"))).toBe(1);
  expect(nodeOf(walk(model, layout, 13, "PageUp"))).toBe(1);
});
