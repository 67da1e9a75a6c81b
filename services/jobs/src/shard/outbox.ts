/** What a stream will send, until somebody reads it: an async iterable that is fed from outside, bounded, and ended by its reader's leaving or by its owner. */
import type { AbortSignalLike } from "@keelson/kernel";

export class Outbox<T> implements AsyncIterable<readonly T[]> {
  readonly #itemsMax: number;
  #items: T[] = [];
  #ended = false;
  #wake: (() => void) | undefined;
  #dropped = 0;
  /** Told once, when nobody reads any more. */
  onEnd: () => void = () => undefined;

  constructor(itemsMax: number) {
    this.#itemsMax = itemsMax;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** False when it was dropped, because the reader is too far behind or gone. */
  put(item: T): boolean {
    if (this.#ended || this.#items.length >= this.#itemsMax) {
      this.#dropped += 1;
      return false;
    }
    this.#items.push(item);
    this.#wake?.();
    return true;
  }

  /** How many were dropped since the last time this was asked. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  /** What nobody has read, once: for when nobody will. */
  takeUnread(): readonly T[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  /** What was put before is still read. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Everything that has come since the last batch, at once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<readonly T[], void> {
    try {
      for (;;) {
        if (this.#items.length > 0) {
          const items = this.#items;
          this.#items = [];
          yield items;
        } else if (this.#ended) return;
        else
          // oxlint-disable-next-line no-await-in-loop -- until something comes.
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      this.#ended = true;
      this.onEnd();
    }
  }
}

/**
 * Calls `leave` when the reader is gone: a generator that waits is not told to return before something comes, and until then would be counted on. Returns what to
 * call when that does not matter any more.
 */
export function whenGone(signal: AbortSignalLike | undefined, leave: () => void): () => void {
  if (signal?.aborted === true) leave();
  else signal?.addEventListener("abort", leave, { once: true });
  return () => signal?.removeEventListener("abort", leave);
}
