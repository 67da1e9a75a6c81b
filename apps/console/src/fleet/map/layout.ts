/**
 * Where things are on the map: one tile per node, in rows, and in each tile one cell per seat. Above them, across the whole width, the replicas that nobody
 * holds. Pure geometry in CSS pixels: it knows nothing of canvases, colours or the feed.
 */

export interface Tile {
  /** The node's number; −1 for nobody's band. */
  readonly node: number;
  readonly x: number;
  /** Of its cells; the label is above. */
  readonly y: number;
  readonly columns: number;
  readonly rows: number;
  /** Where its cells are in the picture of one pixel per cell. */
  readonly px: number;
  readonly py: number;
}

export interface Layout {
  readonly tiles: readonly Tile[];
  readonly cellPx: number;
  readonly labelPx: number;
  readonly width: number;
  readonly height: number;
  /** Size of the picture of one pixel per cell. */
  readonly pixelWidth: number;
  readonly pixelHeight: number;
  /** Seats of nobody's band that there is no room for. */
  readonly leftOut: number;
}

export interface LayoutInput {
  readonly width: number;
  /** What should fit without scrolling, if cells stay large enough to see. */
  readonly height: number;
  /** In the order they are shown, with the seats each has. */
  readonly nodes: readonly { readonly node: number; readonly seats: number }[];
  readonly nobody: number;
}

const CELLS_PX = [48, 40, 34, 29, 25, 21, 18, 15, 13, 11, 9, 8, 7, 6, 5, 4] as const;
const GAP_PX = 10;
const SMALL_GAP_PX = 6;
const LABEL_PX = 17;
/** Narrower, and a name does not fit. */
const LABELLED_PX = 40;
const BAND_ROWS_MAX = 6;
/** A tile is a little wider than high. */
const TILE_SHAPE = 1.35;

/** With the largest cells with which all of it fits; with the smallest when nothing does. */
export function layOut(input: LayoutInput): Layout {
  let layout: Layout | undefined;
  for (const cellPx of CELLS_PX) {
    layout = withCells(input, cellPx);
    if (layout.height <= input.height && layout.width <= input.width) return layout;
  }
  return layout!;
}

function withCells({ width, nodes, nobody }: LayoutInput, cellPx: number): Layout {
  const columns = columnsFor(nodes.map(({ seats }) => seats));
  const tilePx = columns * cellPx;
  const labelPx = tilePx >= LABELLED_PX ? LABEL_PX : 0;
  const gap = labelPx > 0 ? GAP_PX : SMALL_GAP_PX;
  const perRow = Math.max(1, Math.floor((width + gap) / (tilePx + gap)));
  const tiles: Tile[] = [];
  const bandColumns = Math.max(1, Math.floor(width / cellPx));
  const bandRows = Math.min(BAND_ROWS_MAX, Math.ceil(nobody / bandColumns));
  let y = 0;
  let py = 0;
  if (bandRows > 0) {
    tiles.push({ node: -1, x: 0, y: LABEL_PX, columns: bandColumns, rows: bandRows, px: 0, py: 0 });
    y = LABEL_PX + bandRows * cellPx + GAP_PX;
    py = bandRows;
  }
  for (let from = 0; from < nodes.length; from += perRow) {
    const row = nodes.slice(from, from + perRow);
    const rows = Math.max(1, ...row.map(({ seats }) => Math.ceil(seats / columns)));
    for (const [at, { node }] of row.entries())
      tiles.push({ node, x: at * (tilePx + gap), y: y + labelPx, columns, rows, px: at * columns, py });
    y += labelPx + rows * cellPx + gap;
    py += rows;
  }
  return {
    tiles,
    cellPx,
    labelPx,
    width: Math.max(tilePx, Math.min(width, perRow * (tilePx + gap) - gap)),
    height: Math.max(0, y - gap),
    pixelWidth: Math.max(1, bandRows > 0 ? bandColumns : 0, Math.min(perRow, nodes.length) * columns),
    pixelHeight: Math.max(1, py),
    leftOut: Math.max(0, nobody - bandRows * bandColumns),
  };
}

/** From what most nodes hold, so that one that holds ten times as much does not make all tiles large. */
function columnsFor(seats: readonly number[]): number {
  const sorted = seats.toSorted((a, b) => a - b);
  const most = sorted[Math.floor(sorted.length * 0.9)] ?? 1;
  return Math.max(2, Math.ceil(Math.sqrt(Math.max(1, most) * TILE_SHAPE)));
}

/** The tile and the seat at a point; undefined beside all cells. */
export function cellAt(layout: Layout, x: number, y: number): { tile: Tile; seat: number } | undefined {
  const { cellPx, tiles } = layout;
  const tile = tiles.find(
    (one) => x >= one.x && x < one.x + one.columns * cellPx && y >= one.y && y < one.y + one.rows * cellPx,
  );
  if (!tile) return undefined;
  const column = Math.floor((x - tile.x) / cellPx);
  return { tile, seat: Math.floor((y - tile.y) / cellPx) * tile.columns + column };
}

export function cellCentre({ cellPx }: Layout, tile: Tile, seat: number): { x: number; y: number } {
  return {
    x: tile.x + (seat % tile.columns) * cellPx + cellPx / 2,
    y: tile.y + Math.floor(seat / tile.columns) * cellPx + cellPx / 2,
  };
}
