/**
 * Era numbers from objects: taking number n is putting `era/<n>` if absent, so no two nodes ever take the same one, whatever became of the store. The objects stay
 * for ever; they are what remembers.
 */
import type { EraSource, NextEra } from "@keelson/kernel";
import type { Objects } from "../contract.ts";
import { ObjectError } from "../errors.ts";

export interface ObjectErasOptions {
  /** The fleet's own objects: two fleets must not share their eras. */
  readonly objects: Objects;
  /** Written into the object, for people. */
  readonly by: string;
  readonly timeoutMs?: number;
}

const PREFIX = "era/";
const TIMEOUT_MS = 10_000;

export class ObjectEras implements EraSource {
  readonly #objects: Objects;
  readonly #by: string;
  readonly #timeoutMs: number;

  constructor({ objects, by, timeoutMs = TIMEOUT_MS }: ObjectErasOptions) {
    this.#objects = objects;
    this.#by = by;
    this.#timeoutMs = timeoutMs;
  }

  /** `serverTimeMs` is for sources that have nothing better than a clock. */
  async next(above: number, _serverTimeMs: number): Promise<NextEra> {
    const last = await this.#last();
    for (let era = Math.max(above, last ?? 0) + 1; ;) {
      // oxlint-disable-next-line no-await-in-loop -- the next number is tried when this one is taken.
      const taken = await this.#take(era);
      // oxlint-disable-next-line no-await-in-loop -- somebody may have gone further meanwhile, and then this number is too low.
      const highest = (await this.#last()) ?? era;
      if (taken && highest === era) return { era, fresh: last === undefined && above === 0 && era === 1 };
      era = Math.max(highest, era) + 1;
    }
  }

  /** False when the number is somebody's, or may be: one whose put did not end well is nobody's. */
  async #take(era: number): Promise<boolean> {
    const note = Buffer.from(`${JSON.stringify({ v: 1, by: this.#by })}\n`);
    try {
      const outcome = await this.#objects.putIfAbsent(keyOf(era), note, { timeoutMs: this.#timeoutMs });
      return outcome.kind === "created";
    } catch (error) {
      if (error instanceof ObjectError && error.code === "OBJECT_UNKNOWN") return false;
      throw error;
    }
  }

  async #last(): Promise<number | undefined> {
    let last: string | undefined;
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- the next page begins where this one ends.
      const { objects, more } = await this.#objects.list(PREFIX, { timeoutMs: this.#timeoutMs, after: last });
      last = objects.at(-1)?.key ?? last;
      if (!more) return last === undefined ? undefined : Number(last.slice(PREFIX.length));
    }
  }
}

/** With leading zeros, so that the last key is the highest number. */
function keyOf(era: number): string {
  return `${PREFIX}${String(era).padStart(16, "0")}`;
}
