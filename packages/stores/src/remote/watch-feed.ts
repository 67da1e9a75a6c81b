/**
 * One client's watch, on the server: takes batches as the store tells them and sends them as the client takes them. What waits is bounded; a client
 * that falls further behind must list again, which costs less than what it missed.
 */
import type { ChangeBatch, Store, WatchSink } from "@keelson/kernel";
import { WireFailure, type OutgoingStream } from "@keelson/wire";
import type { WatchItem, WatchRequest } from "./protocol.ts";

/** As many as the store itself keeps for watches that resume. */
const WAITING_BATCHES_MAX = 10_000;
/** Changes in one item; a larger batch goes alone. */
const ITEM_CHANGES_MAX = 200;

export async function serveWatch(
  store: Store,
  { prefix, after }: WatchRequest,
  stream: OutgoingStream,
): Promise<void> {
  const feed = new WatchFeed();
  const watch = store.watch(prefix, after, feed);
  void stream.closed().then(() => feed.closed("nobody reads the watch any more"));
  try {
    for (let open = true; open;) {
      // oxlint-disable-next-line no-await-in-loop -- items leave one after the other, as they are taken.
      const item = await feed.take();
      // oxlint-disable-next-line no-await-in-loop -- the same.
      open = (await send(stream, item)) && "batches" in item;
    }
  } finally {
    watch.close();
  }
}

/** Whether the stream takes more. A batch that no frame can hold cannot be told, so the client must list. */
async function send(stream: OutgoingStream, item: WatchItem): Promise<boolean> {
  try {
    return stream.write(item) || (await stream.ready());
  } catch (error) {
    if (!(error instanceof WireFailure) || error.code !== "TOO_LARGE") throw error;
    stream.write({ relist: "a batch of changes is too large to send" } satisfies WatchItem);
    return false;
  }
}

class WatchFeed implements WatchSink {
  #batches: ChangeBatch[] = [];
  #ending: WatchItem | undefined;
  #wake: (() => void) | undefined;

  changes(batch: ChangeBatch): void {
    if (this.#batches.length >= WAITING_BATCHES_MAX) {
      this.#batches = [];
      this.#ending ??= { relist: `the watch is more than ${WAITING_BATCHES_MAX} batches behind` };
    }
    if (this.#ending === undefined) this.#batches.push(batch);
    this.#wake?.();
  }

  relist(reason: string): void {
    this.#end({ relist: reason });
  }

  closed(reason: string): void {
    this.#end({ closed: reason });
  }

  /** What to send next, when there is something. */
  async take(): Promise<WatchItem> {
    if (this.#batches.length === 0 && this.#ending === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const batches = this.#batches.splice(0, this.#fitting());
    return batches.length === 0 && this.#ending !== undefined ? this.#ending : { batches };
  }

  /** How many batches go into one item. */
  #fitting(): number {
    let count = 0;
    let changes = 0;
    for (const batch of this.#batches) {
      changes += batch.changes.length;
      if (count > 0 && changes > ITEM_CHANGES_MAX) break;
      count += 1;
    }
    return count;
  }

  #end(item: WatchItem): void {
    this.#ending ??= item;
    this.#wake?.();
  }
}
