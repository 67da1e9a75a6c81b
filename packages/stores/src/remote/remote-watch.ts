/** A watch over a stream: hands batches to the caller's sink, and ends it exactly once. */
import type { Watch, WatchSink } from "@keelson/kernel";
import type { StreamHandle, StreamSink } from "@keelson/wire";
import type { WatchItem } from "./protocol.ts";

interface RemoteWatchEvents {
  heard(): void;
  ended(): void;
}

export class RemoteWatch implements Watch, StreamSink {
  readonly #sink: WatchSink;
  readonly #events: RemoteWatchEvents;
  #stream: StreamHandle | undefined;
  #open = true;

  constructor(sink: WatchSink, events: RemoteWatchEvents) {
    this.#sink = sink;
    this.#events = events;
  }

  /** The stream to close when this ends. */
  follow(stream: StreamHandle): void {
    this.#stream = stream;
  }

  close(): void {
    this.#finish();
  }

  /** Tells the sink that the connection is gone. */
  lose(reason: string): void {
    if (this.#finish()) this.#sink.closed(reason);
  }

  item(body: unknown): void {
    this.#events.heard();
    const item = body as WatchItem;
    if ("relist" in item) {
      if (this.#finish()) this.#sink.relist(item.relist);
    } else if ("closed" in item) {
      this.lose(item.closed);
    } else {
      for (const batch of item.batches) if (this.#open) this.#sink.changes(batch);
    }
  }

  /** The server says why before it ends a watch; without that it is as good as a lost connection. */
  end(): void {
    this.lose("the store ended the watch");
  }

  fail(error: Error): void {
    this.lose(error.message);
  }

  #finish(): boolean {
    if (!this.#open) return false;
    this.#open = false;
    this.#stream?.close();
    this.#events.ended();
    return true;
  }
}
