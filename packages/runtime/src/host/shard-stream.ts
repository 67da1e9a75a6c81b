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
    // One promise per item, and none that all items hang on to: a stream may last for as long as the process does.
    let end: () => void = () => undefined;
    const onAbort = (): void => end();
    const next = (): Promise<IteratorResult<unknown> | "ended"> =>
      new Promise((resolve, reject) => {
        end = () => resolve("ended");
        if (this.#signal.aborted) end();
        iterator.next().then(resolve, reject);
      });
    this.#slot.streams += 1;
    this.#signal.addEventListener("abort", onAbort, { once: true });
    try {
      for (;;) {
        const item = await next();
        if (item === "ended" || !this.#mayAnswer()) throw moved();
        if (item.done === true) return;
        yield item.value;
      }
    } finally {
      this.#slot.streams -= 1;
      this.#signal.removeEventListener("abort", onAbort);
      // Not waited for: a generator that hangs would hold the connection's stream up. What it still throws concerns nobody.
      iterator.return?.().catch(() => undefined);
    }
  }
}

function moved(): Error {
  return Object.assign(new Error("the shard moved while it was read: ask again"), { code: "MOVED" });
}
