/**
 * Says no before anything piles up: too many requests under way, too many of one route, or an event loop that is late. What is let in is worked
 * on at once; there is no queue that could grow.
 */
import type { Clock, Timer } from "@keelson/runtime";
import { shed } from "./problem.ts";

export interface SheddingLimits {
  readonly inflightMax: number;
  readonly loopLagMsMax: number;
}

const LOOK_MS = 50;
const LOOKS = 4;

export class Shedding {
  readonly #limits: SheddingLimits;
  readonly #clock: Clock;
  #inflight = 0;
  /** Of the last looks. */
  #lags: readonly number[] = [];
  #timer: Timer | undefined;

  constructor(limits: SheddingLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Begins to measure how late the event loop is. */
  start(): void {
    const due = this.#clock.now() + LOOK_MS;
    this.#timer = this.#clock.after(LOOK_MS, () => {
      this.#lags = [this.#clock.now() - due, ...this.#lags.slice(0, LOOKS - 1)];
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  get inflight(): number {
    return this.#inflight;
  }

  /** How late the event loop is, again and again: one stall is not load. */
  get lagMs(): number {
    return this.#lags.length < LOOKS ? 0 : Math.min(...this.#lags);
  }

  /** Throws Problem SHED. Each `enter` that returns is followed by one `exit`. */
  enter(): void {
    const { inflightMax, loopLagMsMax } = this.#limits;
    if (this.#inflight >= inflightMax) throw shed("inflight", `${inflightMax} requests are under way here`);
    if (this.#lags[0] !== undefined && this.#lags[0] > loopLagMsMax && this.lagMs > loopLagMsMax)
      throw shed("lag", `this gateway is ${Math.round(this.lagMs)} ms late`);
    this.#inflight += 1;
  }

  exit(): void {
    this.#inflight -= 1;
  }
}

/** The same for one route. */
export class RouteGate {
  readonly #inflightMax: number;
  #inflight = 0;

  constructor(inflightMax: number) {
    this.#inflightMax = inflightMax;
  }

  enter(): void {
    if (this.#inflight >= this.#inflightMax)
      throw shed("route", `${this.#inflightMax} requests of this operation are under way here`);
    this.#inflight += 1;
  }

  exit(): void {
    this.#inflight -= 1;
  }
}
