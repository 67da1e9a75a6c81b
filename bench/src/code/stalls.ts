/**
 * The longest the event loop of this process was held up: the time by which a timer of a millisecond is late. What the hypervisor took from the whole machine meanwhile
 * is told apart: the kernel counts it, in hundredths of a second, and no program can do anything about it.
 */
import { readFileSync } from "node:fs";

const TICK_MS = 1;
/** How far back the hypervisor's share may lie. */
const LOOK_MS = 50;
/** Shorter ones are not worth a look at what the kernel counts. */
const WORTH_MS = 10;
const KERNEL_TICK_MS = 10;

export interface Stall {
  /** Without what the hypervisor took. */
  readonly stallMs: number;
  readonly stallWithStolenMs: number;
}

export class Stalls {
  #stallMs = 0;
  #withStolenMs = 0;
  #ranAt = performance.now();
  #lookedAt = performance.now();
  #stolenBefore = stolenMs();

  constructor() {
    setInterval(() => this.#tick(), TICK_MS);
  }

  /** The longest since the last reset. */
  get worst(): Stall {
    return { stallMs: this.#stallMs, stallWithStolenMs: this.#withStolenMs };
  }

  reset(): void {
    this.#stallMs = this.#withStolenMs = 0;
  }

  #tick(): void {
    const now = performance.now();
    const lateMs = now - this.#ranAt - TICK_MS;
    this.#ranAt = now;
    const looks = lateMs >= WORTH_MS || now - this.#lookedAt >= LOOK_MS;
    const stolen = looks ? this.#stolenSince(now) : 0;
    this.#stallMs = Math.max(this.#stallMs, lateMs - stolen);
    this.#withStolenMs = Math.max(this.#withStolenMs, lateMs);
  }

  #stolenSince(now: number): number {
    const stolen = stolenMs();
    const since = stolen - this.#stolenBefore;
    this.#stolenBefore = stolen;
    this.#lookedAt = now;
    return since;
  }
}

/** Of all processors, since the machine started. */
function stolenMs(): number {
  const [all = ""] = readFileSync("/proc/stat", "utf8").split("\n", 1);
  return Number(all.split(/\s+/)[8]) * KERNEL_TICK_MS;
}
