/**
 * Ends sessions in time on a store that does nothing by itself: every reply says how long it is until the earliest session's deadline, and whoever
 * has a watch open calls the store then. Any client may, several do, and the store's own clock decides; so a call too many changes nothing.
 */
import type { Clock, Random, Timer } from "@keelson/kernel";

/** Clients that wait for the same deadline come one after the other. */
const SPREAD_MS = 20;
const RETRY_MS = 250;

export interface SweeperOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Asks the store to end what is overdue. Its reply is learnt like any other. */
  sweep(): Promise<unknown>;
}

export class Sweeper {
  readonly #options: SweeperOptions;
  #timer: Timer | undefined;
  /** On our own clock. */
  #dueAt: number | undefined;
  #enabled = false;
  #sweeping = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** Only a client that somebody watches through needs to know of a session's end in time. */
  enable(enabled: boolean): void {
    this.#enabled = enabled;
    this.#arm();
  }

  /** A reply said that no session ends for this long; undefined when there is none. */
  learn(remainingMs: number | undefined): void {
    const { clock, random } = this.#options;
    this.#dueAt =
      remainingMs === undefined ? undefined : clock.now() + Math.max(0, remainingMs) + SPREAD_MS * random();
    this.#arm();
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (!this.#enabled || this.#sweeping || this.#dueAt === undefined) return;
    const { clock } = this.#options;
    this.#timer = clock.after(Math.max(0, this.#dueAt - clock.now()), () => void this.#sweep());
  }

  async #sweep(): Promise<void> {
    this.#sweeping = true;
    this.#dueAt = undefined;
    try {
      await this.#options.sweep();
    } catch {
      // Somebody else may have better luck; and it is tried again.
      this.#dueAt ??= this.#options.clock.now() + RETRY_MS;
    } finally {
      this.#sweeping = false;
    }
    this.#arm();
  }
}
