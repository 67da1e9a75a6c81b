/** What a node measures of itself: how much of a processor it uses. Calls `look` once in a while. */
import type { Clock, Timer } from "@keelson/kernel";

export class NodeFigures {
  readonly #clock: Clock;
  readonly #lookMs: number;
  readonly #look: () => void;
  #timer: Timer | undefined;
  #stopped = false;
  #cpu = { at: 0, micros: 0 };

  readonly #cpuMicros: () => number;

  constructor(options: {
    readonly clock: Clock;
    readonly lookMs: number;
    readonly look: () => void;
    /** Of processor time that this node has used since it started. */
    readonly cpuMicros?: (() => number) | undefined;
  }) {
    this.#clock = options.clock;
    this.#cpuMicros = options.cpuMicros ?? processMicros;
    this.#lookMs = options.lookMs;
    this.#look = options.look;
    this.#cpu = { at: this.#clock.now(), micros: this.#cpuMicros() };
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Since it was last asked; 1 is one whole processor. */
  cpu(): number {
    const now = this.#clock.now();
    const micros = this.#cpuMicros();
    const { at, micros: before } = this.#cpu;
    this.#cpu = { at: now, micros };
    return now > at ? (micros - before) / 1_000 / (now - at) : 0;
  }

  #arm(): void {
    if (this.#stopped) return;
    this.#timer = this.#clock.after(this.#lookMs, () => {
      this.#look();
      this.#arm();
    });
  }
}

function processMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
