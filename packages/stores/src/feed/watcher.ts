/** One watch that is fed from a log: passes on what is under its prefix, in order, and ends exactly once. */
import type { Change, ChangeBatch, Revision, Watch, WatchSink } from "@keelson/kernel";

export class Watcher implements Watch {
  readonly #prefix: string;
  readonly #sink: WatchSink;
  readonly #ended: (watcher: Watcher) => void;
  #open = true;
  /** Everything up to here is dealt with. */
  #reached: Revision;
  /** What the sink knows of that. */
  #told: Revision;

  constructor(prefix: string, after: Revision, sink: WatchSink, ended: (watcher: Watcher) => void) {
    this.#prefix = prefix;
    this.#sink = sink;
    this.#ended = ended;
    this.#reached = after;
    this.#told = after;
  }

  get open(): boolean {
    return this.#open;
  }

  get reached(): Revision {
    return this.#reached;
  }

  /** The sink does not know how far the watch is: its keys stay as they are while others' change. */
  get behind(): boolean {
    return this.#told < this.#reached;
  }

  close(): void {
    this.#finish();
  }

  /** Ends the watch and says why. */
  end(how: "relist" | "closed", reason: string): void {
    if (this.#finish()) this.#sink[how](reason);
  }

  offer(batch: ChangeBatch): void {
    if (!this.#open || batch.revision <= this.#reached) return;
    if (batch.revision !== this.#reached + 1) {
      this.end("relist", `revision ${this.#reached + 1} is missing from the log`);
      return;
    }
    this.#reached = batch.revision;
    const changes = batch.changes.filter((change) => keyOf(change).startsWith(this.#prefix));
    if (changes.length === 0) return;
    this.#told = batch.revision;
    this.#sink.changes(changes.length === batch.changes.length ? batch : { ...batch, changes });
  }

  /** Tells the sink how far the watch is, by a batch without changes. */
  progress(incarnation: string): void {
    if (!this.#open || !this.behind) return;
    this.#told = this.#reached;
    this.#sink.changes({ changes: [], revision: this.#reached, incarnation });
  }

  #finish(): boolean {
    if (!this.#open) return false;
    this.#open = false;
    this.#ended(this);
    return true;
  }
}

function keyOf(change: Change): string {
  return change.kind === "put" ? change.entry.key : change.key;
}
