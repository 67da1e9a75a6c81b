/**
 * The faults of a run and when they begin, drawn from a seed: the same seed and options give the same list. What the processes make of it is up to
 * the machine, so a seed repeats the attack and not the run.
 */
import type { Fault, FaultKind, ScheduledFault, Ways } from "./fault.ts";

export interface ScheduleOptions {
  readonly seed: number;
  readonly lastsMs: number;
  readonly nodes: number;
  readonly ttlMs: number;
  /** Those that this machine cannot do are left out. */
  readonly kinds: ReadonlySet<FaultKind>;
}

/** How often each kind is drawn, relative to the others. */
const WEIGHTS: Readonly<Record<FaultKind, number>> = {
  kill: 4,
  stop: 5,
  "black-hole": 4,
  hold: 2,
  cut: 3,
  "clock-jump": 1,
  "store-restart": 1,
};

export const FAULT_KINDS = Object.keys(WEIGHTS) as readonly FaultKind[];

/** The time between faults; about a second on average, and many last longer, so they overlap. */
const GAP_MS = { min: 200, max: 1_900 };
/** The share of faults that begin together with the one before. */
const TOGETHER = 0.12;
/** Replies of that length cover everything from a renewal to a page of a listing. */
const CUT_BYTES_MAX = 600;
const JUMP_SECONDS_MAX = 100_000;

export function schedule(options: ScheduleOptions): ScheduledFault[] {
  const draw = new Draw(options.seed);
  const faults: ScheduledFault[] = [];
  for (let atMs = draw.between(GAP_MS.min, GAP_MS.max); atMs < options.lastsMs;) {
    faults.push({ atMs, fault: drawFault(draw, options) });
    if (!draw.chance(TOGETHER)) atMs += draw.between(GAP_MS.min, GAP_MS.max);
  }
  return faults;
}

function drawFault(draw: Draw, { nodes, ttlMs, kinds }: ScheduleOptions): Fault {
  const kind = draw.weighted(FAULT_KINDS.filter((each) => kinds.has(each)));
  const node = draw.below(nodes);
  switch (kind) {
    case "kill":
      return { kind, node, downMs: draw.between(0, ttlMs), remembers: draw.chance(0.5) };
    case "stop":
      return { kind, node, lastsMs: draw.between(0.1, 4) * ttlMs };
    case "black-hole":
      return { kind, node, lastsMs: draw.between(0.1, 3) * ttlMs, ways: draw.ways() };
    case "hold":
      return { kind, node, lastsMs: draw.between(0.1, 2) * ttlMs, ways: draw.ways() };
    case "cut":
      return { kind, node, bytes: draw.below(CUT_BYTES_MAX) };
    case "clock-jump":
      return { kind, node, seconds: draw.below(2 * JUMP_SECONDS_MAX) - JUMP_SECONDS_MAX };
    case "store-restart":
      return { kind, downMs: draw.between(0, ttlMs / 2) };
  }
}

/** Draws from a seeded generator (mulberry32: small, and good enough to choose faults). */
class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(min: number, max: number): number {
    return min + this.next() * (max - min);
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  ways(): Ways {
    return (["both", "both", "up", "down"] as const)[this.below(4)] ?? "both";
  }

  weighted(kinds: readonly FaultKind[]): FaultKind {
    const sum = kinds.reduce((total, kind) => total + WEIGHTS[kind], 0);
    let at = this.next() * sum;
    const found = kinds.find((kind) => (at -= WEIGHTS[kind]) < 0);
    if (found === undefined) throw new Error("no kind of fault is left to draw from");
    return found;
  }
}
