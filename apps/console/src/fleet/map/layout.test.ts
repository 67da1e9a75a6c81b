import { expect, test } from "vitest";
import { cellAt, cellCentre, layOut } from "./layout.ts";

const nodes = (count: number, seats: number): { node: number; seats: number }[] =>
  Array.from({ length: count }, (_, node) => ({ node, seats }));

test("a thousand nodes with a hundred seats each lie side by side without touching", () => {
  const layout = layOut({ width: 1_200, height: 700, nodes: nodes(1_000, 100), nobody: 0 });
  expect(layout.tiles).toHaveLength(1_000);
  expect(layout.width).toBeLessThanOrEqual(1_200);
  const corners = new Set(layout.tiles.map(({ x, y }) => `${x} ${y}`));
  expect(corners.size).toBe(1_000);
  for (const { columns, rows } of layout.tiles) expect(columns * rows).toBeGreaterThanOrEqual(100);
});

test("every cell is found at its centre", () => {
  const layout = layOut({ width: 390, height: 500, nodes: nodes(7, 23), nobody: 3 });
  for (const tile of layout.tiles)
    for (let seat = 0; seat < 20; seat++) {
      if (seat >= tile.columns * tile.rows) continue;
      const { x, y } = cellCentre(layout, tile, seat);
      expect(cellAt(layout, x, y)).toEqual({ tile, seat });
    }
});

test("cells of one pixel each do not share a pixel", () => {
  const { tiles, pixelWidth, pixelHeight } = layOut({
    width: 800,
    height: 600,
    nodes: nodes(40, 31),
    nobody: 100,
  });
  const seen = new Set<number>();
  for (const { px, py, columns, rows } of tiles)
    for (let y = py; y < py + rows; y++)
      for (let x = px; x < px + columns; x++) {
        expect(x < pixelWidth && y < pixelHeight).toBe(true);
        expect(seen.has(y * pixelWidth + x)).toBe(false);
        seen.add(y * pixelWidth + x);
      }
});

test("a small fleet gets large cells, a large one small ones", () => {
  const few = layOut({ width: 1_000, height: 600, nodes: nodes(3, 4), nobody: 0 });
  const many = layOut({ width: 1_000, height: 600, nodes: nodes(1_000, 100), nobody: 0 });
  expect(few.cellPx).toBeGreaterThan(40);
  expect(many.cellPx).toBe(4);
});

test("what nobody holds has a band of its own, and says what does not fit", () => {
  const layout = layOut({ width: 100, height: 600, nodes: nodes(2, 4), nobody: 100_000 });
  expect(layout.tiles[0]?.node).toBe(-1);
  expect(layout.leftOut).toBeGreaterThan(90_000);
});
