/**
 * All watches of one client, fed from the store's log over one connection. A watch first reads for itself what it has missed; once it is as far as the others, it
 * joins them, and one reader waits for all. When the connection is lost every watch is told so, and nothing is resumed here: who watches again says from where.
 */
import type { ChangeBatch, Clock, Revision, Timer, Watch, WatchSink } from "@keelson/kernel";
import type { ChangeLog, LogFollower } from "./change-log.ts";
import { Watcher } from "./watcher.ts";

/** A watch whose keys do not change is told this often how far it is, while other keys do. */
const PROGRESS_MS = 1_000;

/** The reader that waits for all watches that have caught up. */
interface Reader {
  readonly follower: LogFollower;
  position: Revision;
}

export interface ChangeFeedOptions {
  readonly clock: Clock;
  readonly log: ChangeLog;
  /** Whether there is any watch. */
  watched(any: boolean): void;
}

export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #watchers = new Set<Watcher>();
  /** Those that have caught up. */
  readonly #joined = new Set<Watcher>();
  #reader: Reader | undefined;
  /** The incarnation that the last batch or reply named. */
  #incarnation: string | undefined;
  #progress: Timer | undefined;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    const watcher = new Watcher(prefix, after, sink, (ended) => this.#forget(ended));
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) this.#options.watched(true);
    void this.#catchUp(watcher);
    return watcher;
  }

  /** Another reply of the store named this incarnation. What watches were told of a former one may be undone: they must list again. */
  notice(incarnation: string): void {
    if (incarnation === this.#incarnation) return;
    const former = this.#incarnation;
    this.#incarnation = incarnation;
    if (former !== undefined) this.endAll("relist", "the store is another one than it was, or lost writes");
  }

  endAll(how: "relist" | "closed", reason: string): void {
    // A sink may close or begin other watches when it is told.
    const ended = Array.from(this.#watchers);
    for (const watcher of ended) watcher.end(how, reason);
  }

  async #catchUp(watcher: Watcher): Promise<void> {
    try {
      do {
        // oxlint-disable-next-line no-await-in-loop -- a page begins where the last one ended.
        const page = await this.#options.log.read(watcher.reached);
        if ("relist" in page) watcher.end("relist", page.relist);
        else for (const batch of page.batches) this.#offer(batch, [watcher]);
      } while (watcher.open && this.#reader !== undefined && watcher.reached < this.#reader.position);
    } catch (error) {
      watcher.end("closed", messageOf(error));
    }
    if (!watcher.open) return;
    this.#joined.add(watcher);
    if (this.#reader === undefined) void this.#read(watcher.reached);
    this.#armProgress();
  }

  async #read(from: Revision): Promise<void> {
    const reader: Reader = { follower: this.#options.log.follow(), position: from };
    this.#reader = reader;
    try {
      while (this.#reader === reader) {
        // oxlint-disable-next-line no-await-in-loop -- one page after the other.
        const page = await reader.follower.next(reader.position);
        if (this.#reader !== reader) return;
        if ("relist" in page) this.#endJoined("relist", page.relist);
        else {
          for (const batch of page.batches) {
            reader.position = batch.revision;
            this.#offer(batch, this.#joined);
          }
          this.#armProgress();
        }
      }
    } catch (error) {
      if (this.#reader === reader) this.#endJoined("closed", messageOf(error));
    } finally {
      reader.follower.close();
    }
  }

  #offer(batch: ChangeBatch, watchers: Iterable<Watcher>): void {
    this.notice(batch.incarnation);
    for (const watcher of watchers) watcher.offer(batch);
  }

  #endJoined(how: "relist" | "closed", reason: string): void {
    this.#reader = undefined;
    const ended = Array.from(this.#joined);
    for (const watcher of ended) watcher.end(how, reason);
  }

  #forget(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    this.#joined.delete(watcher);
    if (this.#joined.size === 0 && this.#reader !== undefined) {
      const { follower } = this.#reader;
      this.#reader = undefined;
      follower.close();
    }
    if (this.#watchers.size > 0) return;
    this.#progress?.cancel();
    this.#progress = undefined;
    this.#options.watched(false);
  }

  #armProgress(): void {
    if (this.#progress !== undefined) return;
    if (!Array.from(this.#joined).some(({ behind }) => behind)) return;
    this.#progress = this.#options.clock.after(PROGRESS_MS, () => {
      this.#progress = undefined;
      const watchers = Array.from(this.#joined);
      for (const watcher of watchers) watcher.progress(this.#incarnation ?? "");
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
