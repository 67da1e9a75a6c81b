import type { AbortSignalLike } from "@keelson/kernel";
import type { Slot } from "./slot.ts";

/**
 * What a shard streams, as long as its tenure allows: each item is checked just before it leaves, as an answer is. When the tenure ends it
 * throws MOVED, whether or not the shard's generator notices; when the reader leaves, the generator is told to return.
 */
export class ShardStream implements AsyncIterable<unknown> {
  readonly #items: AsyncIterable<unknown>;
  readonly #slot: Slot;
  readonly #signal: AbortSignalLike;
  readonly #mayAnswer: () => boolean;

  constructor(items: AsyncIterable<unknown>, slot: Slot, signal: AbortSignalLike, mayAnswer: () => boolean) {
    this.#items = items;
    this.#slot = slot;
    this.#signal = signal;
    this.#mayAnswer = mayAnswer;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void> {
    const iterator = this.#items[Symbol.asyncIterator]();
    let end: () => void = () => undefined;
    const ended = new Promise<"ended">((resolve) => {
      end = () => resolve("ended");
    });
    this.#slot.streams += 1;
    this.#signal.addEventListener("abort", end, { once: true });
    try {
      for (;;) {
        if (this.#signal.aborted) end();
        const next = await Promise.race([iterator.next(), ended]);
        if (next === "ended" || !this.#mayAnswer()) throw moved();
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      this.#slot.streams -= 1;
      this.#signal.removeEventListener("abort", end);
      // Not waited for: a generator that hangs would hold the connection's stream up. What it still throws concerns nobody.
      iterator.return?.().catch(() => undefined);
    }
  }
}

function moved(): Error {
  return Object.assign(new Error("the shard moved while it was read: ask again"), { code: "MOVED" });
}
