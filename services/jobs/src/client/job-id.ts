/**
 * Ids for jobs whose caller names none: UUIDs of version 7, which begin with the time. So a new id lies behind all that a shard has put away, and nothing has to
 * be looked up to know that it is new. Behind the time come a counter and a random part of this process.
 */
import { randomBytes } from "node:crypto";

/** In one millisecond; beyond that ids run ahead of the clock. */
const COUNTER_MAX = 0xfff;

let node = "";
let prefix = "";
let lastMs = 0;
let counter = 0;

export function newJobId(nowMs = Date.now()): string {
  if (nowMs > lastMs) begin(nowMs);
  else if (counter >= COUNTER_MAX) begin(lastMs + 1);
  else counter += 1;
  return prefix + HEX[counter >> 8]!.slice(1) + HEX[counter & 0xff] + node;
}

const HEX = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, "0"));

function begin(ms: number): void {
  if (node === "") node = drawNode();
  lastMs = ms;
  counter = 0;
  const time = ms.toString(16).padStart(12, "0");
  prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`;
}

/** The variant, and 62 random bits. */
function drawNode(): string {
  const bytes = randomBytes(8);
  bytes[0] = (bytes[0]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `-${hex.slice(0, 4)}-${hex.slice(4)}`;
}
