/**
 * Draws a snapshot as lines of text: a row per node with a square per shard, the requests, and the latest events. Pure: the same snapshot gives the
 * same lines. Lines may be longer than the terminal is wide; the screen cuts them.
 */
import type { Colors } from "../report/colors.ts";
import type { Tone } from "./script.ts";
import { seconds } from "./script.ts";
import type { Cell, NodeRow, Snapshot } from "./snapshot.ts";
import type { NodeState } from "./stage.ts";
import { BUCKET_MS } from "./traffic.ts";

export interface PictureOptions {
  readonly columns: number;
  readonly rows: number;
  readonly colors: Colors;
}

const BARS = " ▁▂▃▄▅▆▇█";
const MARGIN = "  ";
/** Lines that are there whatever happens, the one that names the shards nobody serves included. */
const FIXED_ROWS = 10;

export function draw(snapshot: Snapshot, options: PictureOptions): string[] {
  const { colors } = options;
  const shards = snapshot.unserved.length;
  const lines = [
    "",
    `${MARGIN}${colors.bold("keelson demo")}  ${colors.dim(seconds(snapshot.elapsedMs).padStart(6))}  ${snapshot.act}`,
    "",
    `${MARGIN}${" ".repeat(12)}${colors.dim(ruler(shards))}`,
    ...snapshot.rows.map((row) => nodeLine(row, colors)),
    nobodyLine(snapshot.unserved, colors),
    colors.dim(`${MARGIN}${" ".repeat(12)}■ serves  ▪ hands over  ▫ opens  □ nobody serves`),
    "",
    requestLine(snapshot, colors),
    historyLine(snapshot, options),
    "",
  ];
  const room = Math.max(3, options.rows - FIXED_ROWS - snapshot.rows.length);
  for (const { atMs, text, tone } of snapshot.events.slice(-room))
    lines.push(`${MARGIN}${colors.dim(seconds(atMs).padStart(6))}  ${toned(text, tone, colors)}`);
  return lines;
}

function nodeLine({ name, state, cells, perSecond }: NodeRow, colors: Colors): string {
  const held = cells.filter((cell) => cell === "live").length;
  const squares = cells.map((cell) => square(cell, colors)).join("");
  const numbers =
    state === "killed" || state === "left"
      ? ""
      : `${String(held).padStart(4)} shards ${perSecond.toFixed(0).padStart(4)}/s`;
  return `${MARGIN}${colors.bold(name)} ${stateWord(state, colors)} ${squares} ${numbers}`;
}

function nobodyLine(unserved: readonly boolean[], colors: Colors): string {
  const count = unserved.filter(Boolean).length;
  if (count === 0) return "";
  const squares = unserved.map((is) => (is ? colors.red("□") : colors.dim("·"))).join("");
  return `${MARGIN}${colors.red("nobody".padEnd(11))} ${squares} ${colors.red(`${String(count).padStart(4)} unserved`)}`;
}

function requestLine({ perSecond, ok, failed, waiting }: Snapshot, colors: Colors): string {
  const bad = `failed ${failed}`;
  return `${MARGIN}${"requests".padEnd(11)} ${perSecond.toFixed(0)}/s   answered ${ok}   waiting ${waiting}   ${failed > 0 ? colors.red(bad) : bad}`;
}

/** A bar per quarter of a second; one in which requests failed is red, and at least visible. */
function historyLine({ history, perSecondWanted }: Snapshot, { columns, colors }: PictureOptions): string {
  const width = Math.max(10, columns - MARGIN.length - 12);
  // What was held up comes in a burst afterwards; a full bar is the steady rate, so that the burst does not dwarf the rest.
  const full = (perSecondWanted * BUCKET_MS) / 1_000;
  const bars = history.slice(-width).map(({ ok, failed }) => {
    const level = Math.round(Math.min(1, (ok + failed) / full) * (BARS.length - 1));
    const bar = BARS[failed > 0 ? Math.max(1, level) : level] ?? " ";
    return failed > 0 ? colors.red(bar) : colors.green(bar);
  });
  return `${MARGIN}${colors.dim(`${BUCKET_MS} ms each`.padEnd(11))} ${bars.join("")}`;
}

function square(cell: Cell, colors: Colors): string {
  switch (cell) {
    case "none":
      return colors.dim("·");
    case "opening":
      return colors.yellow("▫");
    case "live":
      return colors.green("■");
    case "draining":
      return colors.yellow("▪");
    case "named":
      return colors.red("□");
  }
}

function stateWord(state: NodeState, colors: Colors): string {
  const word = state.padEnd(9);
  switch (state) {
    case "up":
      return colors.green(word);
    case "killed":
      return colors.red(word);
    case "starting":
    case "draining":
      return colors.yellow(word);
    case "left":
      return colors.dim(word);
  }
}

function toned(text: string, tone: Tone, colors: Colors): string {
  if (tone === "plain") return text;
  return tone === "good" ? colors.green(text) : colors.red(text);
}

/** A number over every tenth shard. */
function ruler(shards: number): string {
  let line = "";
  for (let shard = 0; shard < shards; shard += 10) line += String(shard).padEnd(10);
  return line.slice(0, Math.max(shards, 1)).trimEnd();
}
