/**
 * Draws the map. All cells are one pixel each in a small picture that is enlarged onto the canvas, so that 100,000 cells cost about two milliseconds; signs,
 * labels and moves are drawn over it, and only where they are in sight. It is told what to draw, and decides nothing.
 */
import { SIGNS } from "../state-mark.tsx";
import { STATES, type FleetModel, type Move } from "../feed/model.ts";
import { css, mix, pixel, type Inks, type Rgb } from "./inks.ts";
import { cellCentre, type Layout, type Tile } from "./layout.ts";

export type Mode = "state" | "load" | "size";

export interface Scene {
  readonly model: FleetModel;
  readonly layout: Layout;
  readonly inks: Inks;
  readonly mode: Mode;
  /** Whether a replica passes the filter; all do when left out. */
  readonly passes: ((i: number) => boolean) | undefined;
  readonly selected: number | undefined;
  /** What is in sight. */
  readonly top: number;
  readonly height: number;
}

interface Flight extends Move {
  readonly at: number;
}

const FLIGHT_MS = 1_400;
const FLIGHTS_MAX = 300;
const LEVELS = 16;
const SIGN_PX_MIN = 9;
/** Larger, and a shard's name fits into its cell. */
const NAME_PX_MIN = 29;
const GRID_PX_MIN = 4;

export class Picture {
  readonly #canvas: HTMLCanvasElement;
  readonly #cells = document.createElement("canvas");
  #pixels: { image: ImageData; words: Uint32Array } | undefined;
  #flights: Flight[] = [];
  #grid: { key: string; pattern: CanvasPattern | null } | undefined;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
  }

  /** Moves that are to be seen from now on. */
  fly(moves: readonly Move[], now: number): void {
    for (const move of moves) this.#flights.push({ ...move, at: now });
    this.#flights = this.#flights.slice(-FLIGHTS_MAX);
  }

  /** Whether it must be drawn again soon, because something is on its way. */
  get moving(): boolean {
    return this.#flights.length > 0;
  }

  /** Works out every cell's colour anew. */
  paint(scene: Scene): void {
    const { model, layout, passes } = scene;
    const { pixelWidth, pixelHeight, tiles } = layout;
    let pixels = this.#pixels;
    if (pixels?.image.width !== pixelWidth || pixels.image.height !== pixelHeight) {
      const image = new ImageData(pixelWidth, pixelHeight);
      this.#pixels = pixels = { image, words: new Uint32Array(image.data.buffer) };
      this.#cells.width = pixelWidth;
      this.#cells.height = pixelHeight;
    }
    const { words, image } = pixels;
    const table = colours(scene);
    words.fill(0);
    for (const { node, px, py, columns, rows } of tiles) {
      const seats = model.seats.of(node);
      const count = Math.min(seats.length, columns * rows);
      for (let seat = 0; seat < count; seat++) {
        const i = seats[seat]!;
        const at = (py + Math.floor(seat / columns)) * pixelWidth + px + (seat % columns);
        words[at] = i < 0 ? table.free : table.of(i, passes === undefined || passes(i));
      }
    }
    this.#cells.getContext("2d")?.putImageData(image, 0, 0);
  }

  draw(scene: Scene, now: number): void {
    const { layout, inks, top, height, model } = scene;
    const context = this.#canvas.getContext("2d");
    if (!context) return;
    const dpr = devicePixelRatio || 1;
    const width = this.#canvas.clientWidth;
    if (this.#canvas.width !== Math.round(width * dpr) || this.#canvas.height !== Math.round(height * dpr)) {
      this.#canvas.width = Math.round(width * dpr);
      this.#canvas.height = Math.round(height * dpr);
    }
    context.setTransform(dpr, 0, 0, dpr, 0, -top * dpr);
    context.clearRect(0, top, width, height);
    context.imageSmoothingEnabled = false;
    const { cellPx } = layout;
    const seen = layout.tiles.filter(
      (tile) => tile.y + tile.rows * cellPx >= top && tile.y - layout.labelPx <= top + height,
    );
    const grid = this.#gridPattern(context, cellPx, inks.bg);
    for (const tile of seen) {
      const w = tile.columns * cellPx;
      const h = tile.rows * cellPx;
      context.drawImage(this.#cells, tile.px, tile.py, tile.columns, tile.rows, tile.x, tile.y, w, h);
      if (grid) {
        context.save();
        context.translate(tile.x, tile.y);
        context.fillStyle = grid;
        context.fillRect(0, 0, w, h);
        context.restore();
      }
    }
    this.#labels(context, scene, seen);
    if (cellPx >= SIGN_PX_MIN) this.#signs(context, scene, seen);
    if (cellPx >= NAME_PX_MIN) this.#names(context, scene, seen);
    this.#select(context, scene);
    this.#flights = this.#flights.filter(({ at }) => now - at < FLIGHT_MS);
    const tiles = new Map(layout.tiles.map((tile) => [tile.node, tile]));
    for (const flight of this.#flights) drawFlight(context, model, layout, tiles, inks, flight, now);
  }

  #labels(context: CanvasRenderingContext2D, { model, layout, inks }: Scene, seen: readonly Tile[]): void {
    context.textBaseline = "alphabetic";
    context.font = `11px ${getComputedStyle(this.#canvas).fontFamily}`;
    for (const { node, x, y, columns } of seen) {
      if (node >= 0 && layout.labelPx === 0) continue;
      const facts = model.nodes[node];
      const width = columns * layout.cellPx;
      context.fillStyle = css(node < 0 || facts?.member === false ? inks.states[2]! : inks.muted);
      const name = node < 0 ? "nobody holds" : (facts?.node ?? "");
      const more =
        facts?.drained === true
          ? " · drained"
          : facts?.member === false
            ? " · gone"
            : facts?.manager === true
              ? " ★"
              : "";
      context.fillText(fitted(context, name + more, width), x, y - 5);
    }
  }

  /** What is not simply held has a sign in its cell, for those who cannot tell the colours apart. */
  #signs(context: CanvasRenderingContext2D, { model, layout, inks }: Scene, seen: readonly Tile[]): void {
    const { cellPx } = layout;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = `${Math.round(Math.min(16, cellPx * 0.62))}px sans-serif`;
    context.fillStyle = css(inks.bg);
    for (const tile of seen) {
      const seats = model.seats.of(tile.node);
      const count = Math.min(seats.length, tile.columns * tile.rows);
      for (let seat = 0; seat < count; seat++) {
        const i = seats[seat]!;
        const state = i < 0 ? 0 : model.state[i]!;
        if (state === 0) continue;
        const { x, y } = cellCentre(layout, tile, seat);
        context.fillText(SIGNS[STATES[state]!], x, y + 0.5);
      }
    }
    context.textAlign = "start";
  }

  #names(context: CanvasRenderingContext2D, { model, layout, inks }: Scene, seen: readonly Tile[]): void {
    const { cellPx } = layout;
    const { fontFamily } = getComputedStyle(this.#canvas);
    const several = model.services.length > 1;
    context.textBaseline = "alphabetic";
    context.fillStyle = css(inks.text);
    for (const tile of seen)
      for (const [seat, i] of model.seats
        .of(tile.node)
        .slice(0, tile.columns * tile.rows)
        .entries()) {
        if (i < 0) continue;
        const { x, y } = cellCentre(layout, tile, seat);
        const left = x - cellPx / 2 + 3;
        context.font = `10px ${fontFamily}`;
        context.fillText(fitted(context, model.shards[i] ?? "", cellPx - 8), left, y + cellPx / 2 - 6);
        if (!several) continue;
        context.font = `8px ${fontFamily}`;
        context.fillText(fitted(context, model.serviceName(i), cellPx - 8), left, y - cellPx / 2 + 10);
      }
  }

  #select(context: CanvasRenderingContext2D, { model, layout, inks, selected }: Scene): void {
    if (selected === undefined || !model.exists(selected)) return;
    const tile = layout.tiles.find(({ node }) => node === model.seats.nodeOf(selected));
    const seat = model.seats.seatOf(selected);
    if (!tile || seat >= tile.columns * tile.rows) return;
    const { x, y } = cellCentre(layout, tile, seat);
    const half = layout.cellPx / 2 + 1.5;
    context.lineWidth = 2;
    context.strokeStyle = css(inks.bg);
    context.strokeRect(x - half - 1.5, y - half - 1.5, 2 * half + 3, 2 * half + 3);
    context.strokeStyle = css(inks.text);
    context.strokeRect(x - half, y - half, 2 * half, 2 * half);
  }

  #gridPattern(context: CanvasRenderingContext2D, cellPx: number, bg: Rgb): CanvasPattern | null {
    if (cellPx < GRID_PX_MIN) return null;
    const key = `${cellPx} ${css(bg)}`;
    if (this.#grid?.key === key) return this.#grid.pattern;
    const tile = document.createElement("canvas");
    tile.width = tile.height = cellPx;
    const small = tile.getContext("2d");
    if (!small) return null;
    small.fillStyle = css(bg);
    const gap = cellPx >= 9 ? 2 : 1;
    small.fillRect(cellPx - gap, 0, gap, cellPx);
    small.fillRect(0, cellPx - gap, cellPx, gap);
    this.#grid = { key, pattern: context.createPattern(tile, "repeat") };
    return this.#grid.pattern;
  }
}

/** A cell's colour by what is asked: its state, or how much it carries beside the others. */
function colours({ model, inks, mode }: Scene): { free: number; of: (i: number, passes: boolean) => number } {
  const free = pixel(mix(inks.bg, inks.line, 0.55));
  const [held, ...others] = inks.states;
  // What is simply held is quiet, so that the rest stands out.
  const plain = [mix(inks.bg, held!, 0.55), ...others];
  const full = Uint32Array.from(plain, pixel);
  const dim = Uint32Array.from(plain, (ink) => pixel(mix(inks.bg, ink, 0.16)));
  if (mode === "state") return { free, of: (i, passes) => (passes ? full : dim)[model.state[i]!] ?? free };
  const values = mode === "load" ? model.load : model.bytes;
  let most = 0;
  for (let i = 0; i < model.size; i++) if (values[i]! > most) most = values[i]!;
  const ramp = Uint32Array.from({ length: LEVELS }, (_, level) =>
    pixel(mix(mix(inks.bg, inks.accent, 0.14), inks.accent, level / (LEVELS - 1))),
  );
  return {
    free,
    of: (i, passes) => {
      if (!passes) return dim[0]!;
      if (model.state[i] !== 0) return full[model.state[i]!] ?? free;
      const value = values[i]!;
      // The square root, because a few shards carry most of it.
      return value < 0 || most === 0 ? ramp[0]! : ramp[Math.round(Math.sqrt(value / most) * (LEVELS - 1))]!;
    },
  };
}

function drawFlight(
  context: CanvasRenderingContext2D,
  model: FleetModel,
  layout: Layout,
  tiles: ReadonlyMap<number, Tile>,
  inks: Inks,
  { replica, from, at }: Flight,
  now: number,
): void {
  const target = tiles.get(model.seats.nodeOf(replica));
  if (!target) return;
  const seat = Math.min(model.seats.seatOf(replica), target.columns * target.rows - 1);
  const end = cellCentre(layout, target, seat);
  const age = (now - at) / FLIGHT_MS;
  context.strokeStyle = css(inks.accent, Math.max(0, 1 - age));
  context.lineWidth = 2;
  const half = layout.cellPx / 2 + 1;
  context.strokeRect(end.x - half, end.y - half, 2 * half, 2 * half);
  const source = tiles.get(from);
  if (!source) return;
  const start = {
    x: source.x + (source.columns * layout.cellPx) / 2,
    y: source.y + (source.rows * layout.cellPx) / 2,
  };
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(start.x, start.y);
  const lift = Math.min(60, Math.hypot(end.x - start.x, end.y - start.y) / 4);
  context.quadraticCurveTo((start.x + end.x) / 2, (start.y + end.y) / 2 - lift, end.x, end.y);
  context.stroke();
}

/** The end of a name is what tells it from others: it is the beginning that is cut off. */
function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(`…${cut}`).width > width) cut = cut.slice(1);
  return `…${cut}`;
}
