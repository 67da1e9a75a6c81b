/**
 * How far something is that takes longer than a second. On a terminal one line that is drawn over; elsewhere a line now and then. It goes to
 * stderr, so that the output stays what it is.
 */
import pc from "picocolors";
import { clip } from "./table.ts";

export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** What is over sooner needs no progress. */
const PATIENCE_MS = 1_000;
const LINE_EVERY_MS = 5_000;
const BAR = 20;

export class Progress {
  readonly #output: ProgressOutput;
  readonly #now: () => number;
  readonly #startedAt: number;
  #saidAt = -Infinity;
  #drawn = false;

  constructor(output: ProgressOutput = process.stderr, now: () => number = () => performance.now()) {
    this.#output = output;
    this.#now = now;
    this.#startedAt = now();
  }

  /** `fraction`, from 0 to 1, draws a bar. */
  show(text: string, fraction?: number): void {
    const now = this.#now();
    if (now - this.#startedAt < PATIENCE_MS) return;
    if (this.#output.isTTY !== true) {
      if (now - this.#saidAt < LINE_EVERY_MS) return;
      this.#saidAt = now;
      this.#output.write(`${text}\n`);
      return;
    }
    const bar = fraction === undefined ? "" : `${draw(fraction)} `;
    const line = clip(text, (this.#output.columns ?? 80) - (fraction === undefined ? 0 : BAR + 1) - 1);
    this.#output.write(`\r${bar}${line}\u001B[K`);
    this.#drawn = true;
  }

  /** Takes the line away. */
  done(): void {
    if (this.#drawn) this.#output.write("\r\u001B[K");
    this.#drawn = false;
  }
}

function draw(fraction: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * BAR);
  return pc.green("█".repeat(full)) + pc.dim("░".repeat(BAR - full));
}
