/**
 * Delivers batches to watches: every matching change once, in order, filtered once per distinct prefix however many watch it.
 * A sink may call the store again from inside a delivery: what that changes is delivered after the batch at hand, to everyone.
 * Sinks must not throw.
 */
import type { ChangeBatch, Revision, Watch, WatchSink } from "@keelson/kernel";

interface Watcher {
  readonly sink: WatchSink;
  /** The highest revision that was offered. */
  seen: Revision;
  open: boolean;
}

export class Watchers {
  readonly #byPrefix = new Map<string, Set<Watcher>>();
  #queue: ChangeBatch[] = [];
  /** How many batches at the front of the queue are delivered already. */
  #taken = 0;
  #delivering = false;
  /** Batches above this stay in line. */
  #released: Revision;

  /** With a `released` revision, batches above it wait for `release`; without, nothing waits. */
  constructor(released: Revision = Infinity) {
    this.#released = released;
  }

  /** Delivers what is released of `backlog` before it returns, and what is published later as it comes. */
  add(prefix: string, after: Revision, sink: WatchSink, backlog: readonly ChangeBatch[]): Watch {
    const watcher: Watcher = { sink, seen: after, open: true };
    const group = this.#byPrefix.get(prefix);
    if (group === undefined) this.#byPrefix.set(prefix, new Set([watcher]));
    else group.add(watcher);
    this.#whileDelivering(() => {
      for (const batch of backlog) {
        if (batch.revision <= this.#released) offer(watcher, batch, matching(batch, prefix));
      }
    });
    return { close: () => this.#remove(prefix, watcher) };
  }

  /** Puts a batch in line; `deliver` hands it out. */
  publish(batch: ChangeBatch): void {
    this.#queue.push(batch);
  }

  deliver(): void {
    if (this.#queue.length > 0) this.#whileDelivering(() => {});
  }

  release(revision: Revision): void {
    if (revision <= this.#released) return;
    this.#released = revision;
    this.deliver();
  }

  /** Ends every watch. */
  endAll(how: "relist" | "closed", reason: string): void {
    const ended = [...this.#byPrefix.values()].flatMap((group) => [...group]);
    this.#byPrefix.clear();
    for (const watcher of ended) {
      if (!watcher.open) continue;
      watcher.open = false;
      watcher.sink[how](reason);
    }
  }

  /** Runs `first`, then empties the queue; inside another delivery only `first`, because the outer one will do the rest. */
  #whileDelivering(first: () => void): void {
    if (this.#delivering) {
      first();
      return;
    }
    this.#delivering = true;
    try {
      first();
      for (let batch = this.#next(); batch !== undefined; batch = this.#next()) this.#fanOut(batch);
    } finally {
      this.#delivering = false;
    }
  }

  /** Takes the first batch in line, if it is released. */
  #next(): ChangeBatch | undefined {
    const batch = this.#queue[this.#taken];
    if (batch === undefined || batch.revision > this.#released) return undefined;
    this.#taken += 1;
    if (this.#taken === this.#queue.length) {
      this.#queue = [];
      this.#taken = 0;
    }
    return batch;
  }

  #fanOut(batch: ChangeBatch): void {
    for (const [prefix, group] of this.#byPrefix) {
      const filtered = matching(batch, prefix);
      if (filtered === undefined) continue;
      for (const watcher of group) offer(watcher, batch, filtered);
    }
  }

  #remove(prefix: string, watcher: Watcher): void {
    watcher.open = false;
    const group = this.#byPrefix.get(prefix);
    if (group?.delete(watcher) === true && group.size === 0) this.#byPrefix.delete(prefix);
  }
}

/** A watch that was added during a delivery has already seen the batch in its backlog. */
function offer(watcher: Watcher, batch: ChangeBatch, filtered: ChangeBatch | undefined): void {
  if (!watcher.open || batch.revision <= watcher.seen) return;
  watcher.seen = batch.revision;
  if (filtered !== undefined) watcher.sink.changes(filtered);
}

function matching(batch: ChangeBatch, prefix: string): ChangeBatch | undefined {
  if (prefix === "") return batch;
  const changes = batch.changes.filter((change) =>
    (change.kind === "put" ? change.entry.key : change.key).startsWith(prefix),
  );
  if (changes.length === 0) return undefined;
  return changes.length === batch.changes.length ? batch : { ...batch, changes };
}
