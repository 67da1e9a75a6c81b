import type { AbortSignalLike, Change, Clock, Entry } from "@keelson/kernel";
import type { OutgoingStream, WireServer } from "@keelson/wire";
import type { Mirror } from "../mirror/mirror.ts";
import { asChange, COPY_STREAM, encodeCopyFrame, type CopyFrame } from "./copy-frames.ts";

/** Entries of one page: a snapshot of 100,000 replicas leaves in pieces of about 200 KiB. */
const PAGE = 1_000;
/** Changes that wait for a follower who is still being sent the listing; beyond, the listing begins anew. */
const WAITING_MAX = 50_000;
/** How often a follower hears whether the node itself follows the store. */
const LIVE_MS = 1_000;

/**
 * Gives this node's copy of the store to gateways and clients: a listing, then every change, so that the store has as many watchers as there
 * are nodes, however many gateways there are. A follower that falls behind is cut off by wire, and begins anew.
 */
export function serveCopy(server: WireServer, mirror: Mirror, clock: Clock): void {
  server.stream(COPY_STREAM, (stream) => giveCopy(stream, mirror, clock));
}

/** The part of a stream that a copy needs; another transport than wire may have its own. */
export type CopyStream = Pick<OutgoingStream, "write" | "ready"> & AbortSignalLike;

/** Gives a copy to one follower, until it leaves. */
export function giveCopy(stream: CopyStream, mirror: Mirror, clock: Clock): Promise<void> {
  return new Follower(stream, mirror, clock).run();
}

class Follower {
  readonly #stream: CopyStream;
  readonly #mirror: Mirror;
  readonly #clock: Clock;
  #waiting: Change[] = [];
  #stale = true;
  #wake: () => void = () => undefined;
  /** Of what was sent last. */
  #incarnation: string | undefined;
  #sent = 0;

  constructor(stream: CopyStream, mirror: Mirror, clock: Clock) {
    this.#stream = stream;
    this.#mirror = mirror;
    this.#clock = clock;
  }

  async run(): Promise<void> {
    const unsubscribe = this.#mirror.subscribe({
      changed: (changes) => {
        if (this.#waiting.length + changes.length > WAITING_MAX) this.#stale = true;
        if (!this.#stale) for (const change of changes) this.#waiting.push(asChange(change));
        this.#wake();
      },
      // The copy may have been replaced by an older one, which changes alone do not tell.
      listed: () => {
        if (this.#mirror.image.incarnation !== this.#incarnation || this.#mirror.image.revision < this.#sent)
          this.#stale = true;
        this.#wake();
      },
    });
    const woken = (): void => this.#wake();
    this.#stream.addEventListener("abort", woken, { once: true });
    let live: boolean | undefined;
    let saidAt = -Infinity;
    try {
      while (!this.#stream.aborted) {
        if (this.#mirror.image.incarnation !== undefined) {
          if (this.#stale && !(await this.#list())) return;
          if (this.#waiting.length > 0 && !(await this.#changes())) return;
        }
        const now = this.#clock.now();
        if (live !== this.#mirror.live || now >= saidAt + LIVE_MS) {
          live = this.#mirror.live;
          saidAt = now;
          if (!(await this.#send({ kind: "live", live }))) return;
        }
        if (this.#waiting.length > 0 || (this.#stale && this.#mirror.image.incarnation !== undefined))
          continue;
        const timer = this.#clock.after(LIVE_MS, woken);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        timer.cancel();
      }
    } finally {
      unsubscribe();
      this.#stream.removeEventListener("abort", woken);
    }
  }

  async #list(): Promise<boolean> {
    const { image } = this.#mirror;
    this.#stale = false;
    this.#waiting = [];
    const { revision, incarnation = "" } = image;
    this.#incarnation = incarnation;
    this.#sent = revision;
    const entries: Entry[] = [...image.entries()];
    for (let at = 0; ; at += PAGE) {
      const more = at + PAGE < entries.length;
      const page = entries.slice(at, at + PAGE);
      if (!(await this.#send({ kind: "page", incarnation, revision, entries: page, more }))) return false;
      if (!more) return true;
    }
  }

  async #changes(): Promise<boolean> {
    const changes = this.#waiting.splice(0, PAGE);
    // Until everything that waits has been sent, the copy's revision would say too much.
    if (this.#waiting.length === 0) this.#sent = this.#mirror.image.revision;
    const incarnation = this.#incarnation ?? "";
    return this.#send({ kind: "changes", incarnation, revision: this.#sent, changes });
  }

  /** False when nobody reads any more. */
  async #send(frame: CopyFrame): Promise<boolean> {
    return this.#stream.write(encodeCopyFrame(frame)) || (await this.#stream.ready());
  }
}
