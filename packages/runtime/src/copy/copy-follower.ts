import {
  Keys,
  StoreImage,
  backoffMs,
  type Clock,
  type ImageChange,
  type Member,
  type Random,
  type RangePage,
  type Timer,
} from "@keelson/kernel";
import type { StreamHandle, StreamSink } from "@keelson/wire";
import type { Mirror, MirrorListener } from "../mirror/mirror.ts";
import { asChange, COPY_STREAM } from "./copy-frames.ts";
import { CopySource } from "./copy-source.ts";
import type { FleetCopy } from "./fleet-copy.ts";

export interface CopyFollowerOptions {
  readonly fleet: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Addresses of nodes to begin with; more are learnt from the copy itself. */
  readonly nodes: readonly string[];
  /** Opens a stream to a node. */
  readonly open: (address: string, method: string, body: unknown, sink: StreamSink) => StreamHandle;
  /** Makes a follower of the store, for when no node gives its copy. */
  readonly store?: () => Mirror;
}

const RETRY = { firstMs: 50, maxMs: 2_000 };
/** Failures in a row after which the store itself is asked. */
const FAILURES_BEFORE_STORE = 3;
/** With the store followed, a node is tried again this often. */
const NODE_AGAIN_MS = 30_000;
/** A node that does not follow the store itself is left for another after this long; longer each time, since the store may be away for everyone. Less than a TTL: what it held is held by others then, and it does not say so. */
const DEAF_MS_MIN = 4_000;
const DEAF_MS_MAX = 300_000;

/**
 * Follows the copy of one node, and of another when that one fails; when none can be had, the store itself. What was known stays known
 * throughout: a new listing is compared with it, and only what differs is told. A copy that is behind what is known is not taken until it has
 * caught up, so that changing nodes never takes the routes back in time.
 */
export class CopyFollower implements FleetCopy {
  readonly image = new StoreImage();
  readonly #options: CopyFollowerOptions;
  readonly #keys: Keys;
  #listeners: readonly MirrorListener[] = [];
  #source: CopySource | undefined;
  #mirror: Mirror | undefined;
  #failures = 0;
  #deafMs = DEAF_MS_MIN;
  #timer: Timer | undefined;
  #stopped = false;
  /** Of all candidates, which were tried since one last told of a change. */
  readonly #tried = new Set<string>();
  #liveAt: number | undefined;

  constructor(options: CopyFollowerOptions) {
    this.#options = options;
    this.#keys = new Keys(options.fleet);
  }

  get live(): boolean {
    return this.#source?.live === true || this.#mirror?.live === true;
  }

  /** Which node's copy is followed, or that it is the store's. */
  get source(): string | undefined {
    if (this.#source?.live === true) return this.#source.address;
    return this.#mirror?.live === true ? "store" : undefined;
  }

  /** For how long nothing has been heard of changes; 0 while the copy is followed. */
  get staleMs(): number {
    const now = this.#options.clock.now();
    if (this.live) this.#liveAt = now;
    return this.#liveAt === undefined ? Infinity : now - this.#liveAt;
  }

  subscribe(listener: MirrorListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    if (this.image.incarnation !== undefined) {
      listener.listed(false);
      const known = Array.from(this.image.entries(), (entry) => ({
        key: entry.key,
        entry,
        before: undefined,
        revision: entry.revision,
        expired: false,
      }));
      if (known.length > 0) listener.changed(known);
    }
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  start(): void {
    if (this.#candidates().length === 0) this.#followStore();
    else this.#followNode();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#source?.close();
    this.#mirror?.stop();
  }

  #followNode(): void {
    const candidates = this.#candidates();
    let fresh = candidates.filter((address) => !this.#tried.has(address));
    if (fresh.length === 0) {
      this.#tried.clear();
      fresh = candidates;
    }
    const address = fresh[Math.floor(this.#options.random() * fresh.length)];
    if (address === undefined) return this.#later();
    this.#tried.add(address);
    const { clock, open } = this.#options;
    const source: CopySource = new CopySource(address, clock, this.#deafMs, {
      open: (sink) => open(address, COPY_STREAM, null, sink),
      behind: (revision, incarnation) =>
        incarnation === this.image.incarnation && revision < this.image.revision,
      adopted: (copy) => {
        if (source === this.#source) this.#adopt(copy);
      },
      changed: (frame) => {
        if (source !== this.#source) return;
        // It follows the store, so that is not away for everyone.
        this.#deafMs = DEAF_MS_MIN;
        this.#tried.clear();
        this.#tell(this.image.apply(frame.revision, frame.changes));
      },
      ended: (deaf) => {
        if (source !== this.#source) return;
        this.#note();
        this.#deafMs = deaf ? Math.min(DEAF_MS_MAX, 2 * this.#deafMs) : DEAF_MS_MIN;
        // It may have told of changes before. Others come before it.
        if (deaf) this.#tried.add(address);
        this.#source = undefined;
        this.#failures += 1;
        this.#later();
      },
    });
    this.#source = source;
    source.open();
  }

  /** A node's copy is here: it takes the store's place. */
  #adopt(copy: StoreImage): void {
    this.#failures = 0;
    this.#mirror?.stop();
    this.#mirror = undefined;
    this.#take(copy);
  }

  #take(copy: StoreImage): void {
    if (copy.incarnation === undefined) return;
    const page: RangePage = {
      incarnation: copy.incarnation,
      revision: copy.revision,
      entries: [...copy.entries()],
      more: false,
      serverTimeMs: 0,
    };
    const { changes, fallen } = this.image.relist([page]);
    this.#note();
    for (const listener of this.#listeners) listener.listed(fallen);
    this.#tell(changes);
  }

  #followStore(): void {
    if (this.#mirror !== undefined || this.#options.store === undefined) return this.#later();
    const mirror = this.#options.store();
    this.#mirror = mirror;
    mirror.subscribe({
      listed: () => {
        if (mirror === this.#mirror) this.#take(mirror.image);
      },
      changed: (changes) => {
        if (mirror !== this.#mirror) return;
        this.#tell(this.image.apply(mirror.image.revision, changes.map(asChange)));
      },
    });
    mirror.start();
    this.#later();
  }

  #later(): void {
    if (this.#stopped) return;
    this.#note();
    if (this.#failures >= FAILURES_BEFORE_STORE && this.#mirror === undefined && this.#options.store)
      return this.#followStore();
    const { clock, random } = this.#options;
    const waitMs =
      this.#mirror?.live === true
        ? NODE_AGAIN_MS * (0.5 + random())
        : backoffMs(RETRY, Math.max(1, this.#failures), random);
    this.#timer?.cancel();
    this.#timer = clock.after(waitMs, () => this.#followNode());
  }

  #candidates(): string[] {
    const found = new Set(this.#options.nodes);
    const prefix = this.#keys.member("");
    for (const { key, value } of this.image.entries())
      if (key.startsWith(prefix)) found.add((JSON.parse(value) as Member).address);
    return [...found];
  }

  #tell(changes: readonly ImageChange[]): void {
    this.#note();
    if (changes.length > 0) for (const listener of this.#listeners) listener.changed(changes);
  }

  #note(): void {
    if (this.live) this.#liveAt = this.#options.clock.now();
  }
}
