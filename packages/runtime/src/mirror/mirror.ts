import {
  StoreError,
  StoreImage,
  backoffMs,
  type Change,
  type ChangeBatch,
  type Clock,
  type Entry,
  type ImageChange,
  type Random,
  type RangePage,
  type Revision,
  type Store,
  type Timer,
  type Watch,
} from "@keelson/kernel";

export interface MirrorOptions {
  readonly store: Store;
  readonly prefix: string;
  /** The key whose revision tells, on a resumed watch, whether anything that counts happened in between. */
  readonly canary: string;
  /** What a key belongs to, for keys that the copy is asked for by that. */
  readonly groupOf?: (key: string) => string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly timeoutMs: number;
  readonly relistMs: number;
  /** The longest wait between two tries to reach the store. A node that does not follow the store serves nothing: it waits no longer than a renewal. */
  readonly retryMsMax?: number;
}

export interface MirrorListener {
  /** Keys changed, all of one batch together. */
  changed(changes: readonly ImageChange[]): void;
  /** A listing replaced the copy. `fallen`: the store is older than what was seen before. */
  listed(fallen: boolean): void;
}

const PAGE = 1000;
const RETRY_FIRST_MS = 50;
const RETRY_MS_MAX = 5_000;
/** How long a watch may stay silent about a revision that another reply has shown before it is begun anew. */
const BEHIND_MS = 3_000;

/**
 * Keeps a StoreImage fed: lists, watches, resumes from the last delivered revision after a lost connection, lists again when the store says so, and every
 * few minutes to count what the watch missed. A resumed watch is trusted only after a read shows that the store has not gone back in time.
 */
export class Mirror {
  readonly image: StoreImage;
  /** Entries that a periodic listing found and the watch had missed. Should stay 0. */
  drift = 0;
  /** The store's own clock, as of the last listing. */
  serverTimeMs = 0;

  readonly #options: MirrorOptions;
  #listeners: readonly MirrorListener[] = [];
  #watch: Watch | undefined;
  #timer: Timer | undefined;
  #relistTimer: Timer | undefined;
  #live = false;
  #trouble: string | undefined;
  #attempt = 0;
  #stopped = false;
  /** Rises whenever the work under way is abandoned, so that its late results are ignored. */
  #round = 0;
  #seen: { revision: Revision; since: number } | undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.image = new StoreImage(options.groupOf);
  }

  /** The copy is being kept up to date. While it is not, renewals do not count. */
  get live(): boolean {
    return this.#live;
  }

  /** Why the copy is not kept up to date, as the last try had it; undefined while it is, or nothing has failed yet. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Tells the listener what is known already, at once, and from then on what changes. Returns how to end that. */
  subscribe(listener: MirrorListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    if (this.image.incarnation !== undefined) {
      listener.listed(false);
      const known = Array.from(this.image.entries(), asFirstSeen);
      if (known.length > 0) listener.changed(known);
    }
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  start(): void {
    void this.#list(++this.#round);
  }

  stop(): void {
    this.#stopped = true;
    this.#round++;
    this.#unwatch();
    this.#timer?.cancel();
    this.#relistTimer?.cancel();
  }

  /** Something suggests that the copy is of another store than it was: list again, now. */
  distrust(): void {
    if (this.#stopped) return;
    this.#unwatch();
    this.#timer?.cancel();
    void this.#list(++this.#round);
  }

  /** What one of our own commits wrote. */
  learn(revision: Revision, changes: readonly Change[]): void {
    const learnt = this.image.learn(revision, changes);
    if (learnt.length > 0) for (const listener of this.#listeners) listener.changed(learnt);
  }

  /**
   * Another reply showed this revision; if the watch stays behind it for long, it is dead without knowing. `knownBefore` is what the copy was at when that call was sent: a store that answers
   * with less has gone back in time, and the watch, which only tells what is new, would never say so.
   */
  notice(revision: Revision, knownBefore: Revision): void {
    if (revision < knownBefore && this.#live) {
      this.distrust();
      return;
    }
    const now = this.#options.clock.now();
    if (revision <= this.image.revision) this.#seen = undefined;
    else if (!this.#seen) this.#seen = { revision, since: now };
    else if (now - this.#seen.since > BEHIND_MS && this.#live) {
      this.#seen = undefined;
      if (this.image.revision < revision) this.#resume("the watch is silent");
    }
  }

  async #list(round: number): Promise<void> {
    const pages: RangePage[] = [];
    try {
      do {
        const after = pages.at(-1)?.entries.at(-1)?.key;
        const page = await this.#options.store.range(this.#options.prefix, {
          limit: PAGE,
          timeoutMs: this.#options.timeoutMs,
          ...(after === undefined ? {} : { after }),
        });
        if (round !== this.#round) return;
        if (pages[0] && page.incarnation !== pages[0].incarnation)
          throw new StoreError("STORE_UNAVAILABLE", "the store changed while it was listed");
        pages.push(page);
      } while (pages.at(-1)!.more);
    } catch (error) {
      if (round === this.#round) this.#later(error, () => this.#list(++this.#round));
      return;
    }
    this.#attempt = 0;
    this.serverTimeMs = pages.at(-1)!.serverTimeMs;
    const { changes, fallen, drift } = this.image.relist(pages);
    this.drift += drift;
    this.#follow();
    for (const listener of this.#listeners) {
      listener.listed(fallen);
      if (changes.length > 0) listener.changed(changes);
    }
  }

  #follow(): void {
    this.#live = true;
    this.#trouble = undefined;
    const round = this.#round;
    this.#watch = this.#options.store.watch(this.#options.prefix, this.image.revision, {
      changes: (batch) => this.#apply(round, batch),
      relist: () => {
        if (round === this.#round) this.distrust();
      },
      closed: (reason) => {
        if (round === this.#round) this.#resume(reason);
      },
    });
    this.#relistTimer?.cancel();
    const wait = this.#options.relistMs * (0.8 + 0.4 * this.#options.random());
    this.#relistTimer = this.#options.clock.after(wait, () => this.distrust());
  }

  #apply(round: number, batch: ChangeBatch): void {
    if (round !== this.#round) return;
    if (batch.incarnation !== this.image.incarnation) {
      this.distrust();
      return;
    }
    const changes = this.image.apply(batch.revision, batch.changes);
    if (this.#seen && this.image.revision >= this.#seen.revision) this.#seen = undefined;
    if (changes.length > 0) for (const listener of this.#listeners) listener.changed(changes);
  }

  /** The connection was lost. The store may have gone back in time meanwhile and caught up again: the canary tells. */
  #resume(reason: string): void {
    this.#unwatch();
    const round = ++this.#round;
    this.#later(reason, async () => {
      const page = await this.#options.store.range(this.#options.canary, {
        limit: 1,
        timeoutMs: this.#options.timeoutMs,
      });
      if (round !== this.#round) return;
      const same =
        page.incarnation === this.image.incarnation &&
        page.revision >= this.image.revision &&
        page.entries[0]?.revision === this.image.get(this.#options.canary)?.revision &&
        page.entries[0]?.value === this.image.get(this.#options.canary)?.value;
      if (!same) this.distrust();
      else {
        this.#attempt = 0;
        this.#follow();
      }
    });
  }

  #later(reason: unknown, run: () => Promise<void>): void {
    this.#trouble = reason instanceof Error ? reason.message : String(reason);
    const wait =
      this.#attempt === 0
        ? 5 * this.#options.random()
        : backoffMs(
            { firstMs: RETRY_FIRST_MS, maxMs: this.#options.retryMsMax ?? RETRY_MS_MAX },
            this.#attempt,
            this.#options.random,
          );
    this.#attempt++;
    this.#timer?.cancel();
    const round = this.#round;
    this.#timer = this.#options.clock.after(wait, () => {
      run().catch((error: unknown) => {
        if (round === this.#round && !this.#stopped) this.#later(error, run);
      });
    });
  }

  #unwatch(): void {
    this.#live = false;
    this.#watch?.close();
    this.#watch = undefined;
    this.#relistTimer?.cancel();
  }
}

function asFirstSeen(entry: Entry): ImageChange {
  return { key: entry.key, entry, before: undefined, revision: entry.revision, expired: false };
}
