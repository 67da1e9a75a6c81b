/** Where the arrow keys go on the map: from cell to cell inside a tile, and over its edge to the tile beside it. */
import type { FleetModel } from "../feed/model.ts";
import { cellCentre, type Layout, type Tile } from "./layout.ts";

const STEPS: Readonly<Record<string, readonly [dx: number, dy: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The replica that is chosen after the key; undefined when the key is not for the map. */
export function walk(
  model: FleetModel,
  layout: Layout,
  from: number | undefined,
  key: string,
): number | undefined {
  if (from === undefined || !model.exists(from))
    return key in STEPS || key === "Home" ? first(model, layout, 0) : undefined;
  const at = layout.tiles.findIndex(({ node }) => node === model.seats.nodeOf(from));
  const tile = layout.tiles[at];
  if (!tile) return first(model, layout, 0);
  if (key === "Home") return first(model, layout, 0);
  if (key === "PageDown" || key === "]") return first(model, layout, at + 1) ?? from;
  if (key === "PageUp" || key === "[") return last(model, layout, at - 1) ?? from;
  const step = STEPS[key];
  return step && (within(model, tile, from, step) ?? beyond(model, layout, tile, from, step) ?? from);
}

/** The next taken seat in the direction, in the same tile. */
function within(
  model: FleetModel,
  { node, columns, rows }: Tile,
  from: number,
  [dx, dy]: readonly [number, number],
): number | undefined {
  const seats = model.seats.of(node);
  const seat = model.seats.seatOf(from);
  let x = (seat % columns) + dx;
  let y = Math.floor(seat / columns) + dy;
  for (; x >= 0 && x < columns && y >= 0 && y < rows; x += dx, y += dy) {
    const i = seats[y * columns + x];
    if (i !== undefined && i >= 0) return i;
  }
  return undefined;
}

/** The nearest replica of the nearest tile that lies in the direction and is not empty. */
function beyond(
  model: FleetModel,
  layout: Layout,
  tile: Tile,
  from: number,
  [dx, dy]: readonly [number, number],
): number | undefined {
  const start = cellCentre(layout, tile, model.seats.seatOf(from));
  let next: { tile: Tile; far: number } | undefined;
  for (const other of layout.tiles) {
    const ahead = dx === 0 ? (other.y - tile.y) * dy : (other.x - tile.x) * dx;
    const aside = dx === 0 ? asideOf(start.x, other, layout.cellPx) : Math.abs(other.y - tile.y);
    if (ahead <= 0 || (dx !== 0 && aside > 0) || model.seats.taken(other.node) === 0) continue;
    const far = ahead + 2 * aside;
    if (!next || far < next.far) next = { tile: other, far };
  }
  return next && nearest(model, layout, next.tile, start);
}

/** How far a point is beside a tile; 0 above or below it. */
function asideOf(x: number, tile: Tile, cellPx: number): number {
  return Math.max(0, tile.x - x, x - (tile.x + tile.columns * cellPx));
}

function nearest(
  model: FleetModel,
  layout: Layout,
  tile: Tile,
  start: { readonly x: number; readonly y: number },
): number | undefined {
  let best: { i: number; far: number } | undefined;
  for (const [seat, i] of model.seats
    .of(tile.node)
    .slice(0, tile.columns * tile.rows)
    .entries()) {
    if (i < 0) continue;
    const { x, y } = cellCentre(layout, tile, seat);
    const far = Math.abs(x - start.x) + Math.abs(y - start.y);
    if (!best || far < best.far) best = { i, far };
  }
  return best?.i;
}

function first(model: FleetModel, { tiles }: Layout, from: number): number | undefined {
  for (const tile of tiles.slice(Math.max(0, from))) {
    const found = model.seats.of(tile.node).find((i) => i >= 0);
    if (found !== undefined) return found;
  }
  return undefined;
}

function last(model: FleetModel, { tiles }: Layout, from: number): number | undefined {
  for (const tile of tiles.slice(0, Math.max(0, from + 1)).reverse()) {
    const found = model.seats.of(tile.node).find((i) => i >= 0);
    if (found !== undefined) return found;
  }
  return undefined;
}
