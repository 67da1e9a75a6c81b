/**
 * Looks at what the operating system counts for the process, and has free memory given back when that is nearly all the process was given: what lies free between things that are in use stays with it
 * otherwise. It does so again when the process has grown since, so one that is full and at rest is left alone.
 */
import type { Clock, Timer } from "@keelson/kernel";

interface MemoryWatchPorts {
  readonly clock: Clock;
  /** What the process may take in all. */
  readonly memoryBytes: number;
  readonly rssBytes: () => number;
  readonly trim: () => Promise<void>;
  readonly failed: (why: string) => void;
}

const lookMs = 1_000;
/** Of the memory: below this nothing is done. */
const nearShare = 0.9;
/** Of the memory: what is had since the last time is worth another. */
const growthShare = 0.01;

export class MemoryWatch {
  readonly #ports: MemoryWatchPorts;
  #leftBytes = 0;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(ports: MemoryWatchPorts) {
    this.#ports = ports;
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #arm(): void {
    if (this.#stopped) return;
    const { clock, failed } = this.#ports;
    this.#timer = clock.after(lookMs, () => {
      this.#look()
        .catch((error: unknown) => failed(String(error)))
        .finally(() => this.#arm());
    });
  }

  async #look(): Promise<void> {
    const { memoryBytes, rssBytes, trim } = this.#ports;
    const now = rssBytes();
    this.#leftBytes = Math.min(this.#leftBytes, now);
    if (now < memoryBytes * nearShare || now - this.#leftBytes < memoryBytes * growthShare) return;
    await trim();
    this.#leftBytes = rssBytes();
  }
}
