/**
 * The one stream on which a process watches. Each watch is told every change once, in order, in one piece per revision, until it is told to list again or that
 * the stream is closed; nothing is resumed here. A watch whose keys stay as they are while others' change is told now and then, by a batch without changes, how far it is.
 */
import type { Change, ChangeBatch, Clock, Revision, Timer, Watch, WatchSink } from "@keelson/kernel";
import type { StreamSink } from "./grpc/call.ts";
import type { GrpcStream } from "./grpc/connection.ts";
import { FrameError } from "./grpc/frame.ts";
import type { KeyRange } from "./key-range.ts";
import {
  decodeWatchReply,
  encodeProgress,
  encodeWatchCancel,
  encodeWatchCreate,
  type WatchEvent,
  type WatchReply,
} from "./messages/watch.ts";
import { WATCH_CREATE_MS } from "./options.ts";

/**
 * etcd before 3.4.25 may answer a progress request before it has sent older events. So an answer counts once another one has come this much later: by then those
 * events are here. A watch that trusted it too early would lose an event only if it also lost its connection in between.
 */
const PROGRESS_MS = 1_000;

interface Watched {
  readonly id: number;
  readonly sink: WatchSink;
  /** What it was asked to begin after. */
  readonly after: Revision;
  /** Everything up to here was delivered. */
  reached: Revision;
  /** The number of the first progress answer that came after etcd confirmed the watch; infinite before. */
  confirmed: number;
  readonly timer: Timer;
}

export interface WatchStreamPorts {
  readonly clock: Clock;
  readonly incarnation: () => string;
  /** How many characters of a key in etcd come before the caller's. */
  readonly namespaceLength: number;
  open(sink: StreamSink): GrpcStream;
  /** etcd left a watch unconfirmed. */
  silent(timeoutMs: number): void;
}

export class WatchStream {
  readonly #ports: WatchStreamPorts;
  readonly #watches = new Map<number, Watched>();
  #stream: GrpcStream | undefined;
  #lastId = 0;
  /** The highest revision that any reply showed. */
  #noticed: Revision = 0;
  #progress: { readonly revision: Revision; readonly at: number; readonly count: number } | undefined;
  #progressTimer: Timer | undefined;

  constructor(ports: WatchStreamPorts) {
    this.#ports = ports;
  }

  /** How many watches are open. */
  get size(): number {
    return this.#watches.size;
  }

  add(range: KeyRange, after: Revision, sink: WatchSink): Watch {
    this.#lastId += 1;
    const id = this.#lastId;
    const timer = this.#ports.clock.after(WATCH_CREATE_MS, () => this.#ports.silent(WATCH_CREATE_MS));
    this.#watches.set(id, { id, sink, after, reached: after, confirmed: Infinity, timer });
    this.#stream ??= this.#open();
    // From the revision before the first that is wanted: releases of etcd drop a deletion at the very revision that their history begins with, and say nothing (etcd#18089).
    this.#stream.send(encodeWatchCreate(id, range.key, range.end, Math.max(after, 1)));
    return {
      close: () => {
        if (this.#remove(id) !== undefined) this.#stream?.send(encodeWatchCancel(id));
      },
    };
  }

  /** Another reply showed this revision: watches that have not reached it ask how far they are. */
  notice(revision: Revision): void {
    if (revision > this.#noticed) this.#noticed = revision;
    this.#askProgress();
  }

  #open(): GrpcStream {
    const stream = this.#ports.open({
      message: (message) => this.#told(decodeWatchReply(message)),
      // Asking for the same again would bring the same message that is too large.
      ended: (error) => {
        if (this.#stream === stream)
          this.end(
            error?.message ?? "etcd ended the stream of watches",
            error?.cause instanceof FrameError ? "relist" : "closed",
          );
      },
    });
    return stream;
  }

  /** Ends every watch, because the stream or its connection is gone. */
  end(reason: string, how: "relist" | "closed" = "closed"): void {
    this.#stream?.cancel();
    this.#stream = undefined;
    this.#progress = undefined;
    this.#progressTimer?.cancel();
    this.#progressTimer = undefined;
    // A sink may close or begin other watches when it is told.
    const ended = Array.from(this.#watches.values());
    for (const { id, sink } of ended) if (this.#remove(id)) sink[how](reason);
  }

  #told(reply: WatchReply): void {
    if (reply.watchId === -1) {
      this.#progressed(reply.header.revision);
      return;
    }
    const watched = this.#watches.get(reply.watchId);
    if (watched === undefined) return;
    if (reply.compactRevision > 0)
      this.#relist(
        watched,
        `revision ${watched.reached} is too old: etcd's history begins at ${reply.compactRevision}`,
      );
    else if (reply.canceled)
      this.#remove(watched.id)?.sink.closed(`etcd ended the watch: ${reply.cancelReason}`);
    else if (reply.created) this.#confirmed(watched, reply.header.revision);
    else this.#deliver(watched, reply.events);
  }

  #confirmed(watched: Watched, revision: Revision): void {
    watched.timer.cancel();
    watched.confirmed = (this.#progress?.count ?? 0) + 1;
    if (revision >= watched.reached) this.notice(revision);
    else {
      this.#stream?.send(encodeWatchCancel(watched.id));
      this.#relist(watched, `revision ${watched.reached} is above etcd's ${revision}`);
    }
  }

  /** etcd never spreads a revision over messages, unless it is asked to. */
  #deliver(watched: Watched, events: readonly WatchEvent[]): void {
    const { namespaceLength, incarnation } = this.#ports;
    for (let at = 0; at < events.length;) {
      const revision = (events[at] as WatchEvent).entry.modRevision;
      const changes: Change[] = [];
      for (; events[at]?.entry.modRevision === revision; at += 1)
        changes.push(asChange(events[at] as WatchEvent, namespaceLength));
      if (revision <= watched.after) continue;
      if (revision <= watched.reached) {
        this.#stream?.send(encodeWatchCancel(watched.id));
        this.#relist(watched, `etcd told of revision ${revision} after ${watched.reached}`);
        return;
      }
      watched.reached = revision;
      watched.sink.changes({ changes, revision, incarnation: incarnation() });
      if (!this.#watches.has(watched.id)) return;
    }
  }

  #askProgress(): void {
    if (this.#progressTimer !== undefined || this.#stream === undefined) return;
    const behind = [...this.#watches.values()].some(({ reached }) => reached < this.#noticed);
    if (!behind) return;
    this.#stream.send(encodeProgress());
    this.#progressTimer = this.#ports.clock.after(PROGRESS_MS, () => {
      this.#progressTimer = undefined;
      this.#askProgress();
    });
  }

  #progressed(revision: Revision): void {
    const [before, at] = [this.#progress, this.#ports.clock.now()];
    this.#progress = { revision, at, count: (before?.count ?? 0) + 1 };
    if (before === undefined || at - before.at < PROGRESS_MS / 2) return;
    const batch: ChangeBatch = {
      changes: [],
      revision: before.revision,
      incarnation: this.#ports.incarnation(),
    };
    const watches = Array.from(this.#watches.values());
    for (const watched of watches) {
      if (!this.#watches.has(watched.id)) continue;
      if (watched.confirmed > before.count || watched.reached >= before.revision) continue;
      watched.reached = before.revision;
      watched.sink.changes(batch);
    }
  }

  #relist(watched: Watched, reason: string): void {
    this.#remove(watched.id)?.sink.relist(reason);
  }

  #remove(id: number): Watched | undefined {
    const watched = this.#watches.get(id);
    watched?.timer.cancel();
    this.#watches.delete(id);
    return watched;
  }
}

function asChange({ deleted, entry }: WatchEvent, namespaceLength: number): Change {
  const key = entry.key.slice(namespaceLength);
  const revision = entry.modRevision;
  if (deleted) return { kind: "delete", key, revision };
  return { kind: "put", entry: { key, value: entry.value, revision, session: entry.lease } };
}
