/**
 * What a process of the fault bench did, written down as it happens: one line of JSON in a file of its own, appended with one system call before the
 * thing has any effect. What SIGKILL takes with it is at most a line whose deed nobody has seen: the pages of the file are the kernel's.
 * Instants are nanoseconds of the machine's monotonic clock, which all its processes share.
 */
import { openSync, writeSync } from "node:fs";
import type { Clock, Epoch, Timer } from "@keelson/kernel";

/** `[shard, era, revision, instant]`: the admission check of that shard's replica passed. */
export type Pass = readonly [shard: string, era: number, revision: number, atNs: number];

export type HistoryLine =
  /** A request was admitted. */
  | readonly ["admitted", ...Pass]
  /** The node asked itself, and would have admitted requests for these. */
  | readonly ["passing", readonly Pass[]]
  /** The resource heard of an epoch, or accepted a write that changed the value; `refused` is a write that came too late. */
  | readonly ["raised", shard: string, era: number, revision: number]
  | readonly ["wrote", shard: string, era: number, revision: number, value: number]
  | readonly ["refused", shard: string, era: number, revision: number];

export class Recorder {
  readonly #fd: number;

  constructor(file: string) {
    this.#fd = openSync(file, "a");
  }

  write(line: HistoryLine): void {
    writeSync(this.#fd, `${JSON.stringify(line)}\n`);
  }
}

export function pass(shard: string, { era, revision }: Epoch, atNs: number): Pass {
  return [shard, era, revision, atNs];
}

/**
 * A clock that remembers when it was last read. An admission check reads it once, to compare with the deadline, and calls the shard at once: so
 * what the shard finds here is the instant at which the check passed, even when the process was stopped in between.
 */
export class ReadClock implements Clock {
  readonly #clock: Clock;
  /** On the machine's monotonic clock. */
  readAtNs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    this.readAtNs = machineNs();
    return this.#clock.now();
  }

  wall(): number {
    return this.#clock.wall();
  }

  after(delayMs: number, run: () => void): Timer {
    return this.#clock.after(delayMs, run);
  }
}

/** Exact to a nanosecond for the first hundred days after the machine's start. */
export function machineNs(): number {
  return Number(process.hrtime.bigint());
}
