/** Tells those who wait: for the end of jobs, and for events. It hears of changes once they are durable, and keeps nothing but who waits. */
import type { AbortSignalLike } from "@keelson/kernel";
import { outcomeView } from "../engine/commands/leasing.ts";
import type { Effect, JobName, JobView } from "../engine/index.ts";
import { isFinal } from "../engine/index.ts";
import { bytesOfResult, partsOf } from "./answer-room.ts";
import { Outbox, whenGone } from "./outbox.ts";
import {
  PROTOCOL_LIMITS,
  type EventsOpen,
  type JobEvent,
  type ResultItem,
  type ResultsOpen,
} from "./protocol.ts";
import { ShardFailure } from "./shard-failure.ts";

export interface JobLookup {
  get(name: JobName): Promise<JobView | undefined>;
}

/** Hears that a job has ended, or may have; of one that cannot be looked up, how it did. */
type Listener = (end?: ResultItem) => void;

interface EventReader {
  readonly filter: EventsOpen;
  readonly outbox: Outbox<JobEvent>;
}

export class WatchDesk {
  readonly #jobs: JobLookup;
  readonly #wallMs: () => number;
  readonly #awaited = new Map<string, Set<Listener>>();
  readonly #readers = new Set<EventReader>();
  readonly #outboxes = new Set<Outbox<never>>();

  constructor(jobs: JobLookup, wallMs: () => number) {
    this.#jobs = jobs;
    this.#wallMs = wallMs;
  }

  /** Ends after the last of the jobs has. */
  async *results(
    { jobs }: ResultsOpen,
    signal?: AbortSignalLike,
  ): AsyncGenerator<readonly ResultItem[], void> {
    if (jobs.length > PROTOCOL_LIMITS.resultsPerStreamMax || this.#awaited.size > PROTOCOL_LIMITS.awaitedMax)
      throw new ShardFailure("OVERLOADED", `more jobs are awaited than the shard allows`);
    const outbox = new Outbox<ResultItem>(jobs.length + 1);
    this.#outboxes.add(outbox as Outbox<never>);
    const left = new Map<string, Listener>();
    const settle = (item: ResultItem): void => {
      if (!left.delete(keyOf(item))) return;
      outbox.put(item);
      if (left.size === 0) outbox.end();
    };
    const look = async (name: JobName): Promise<void> => {
      // One that is not there may have ended a moment ago and left nothing behind: then its listener hears how before a second look is over.
      const view = (await this.#jobs.get(name)) ?? (await this.#jobs.get(name));
      if (view === undefined || isFinal(view.status)) settle(itemOf(name, view));
    };
    for (const name of jobs) {
      const listener = (end?: ResultItem): void =>
        end === undefined ? void look(name).catch(() => outbox.end()) : settle(end);
      left.set(keyOf(name), listener);
      this.#listen(keyOf(name), listener);
    }
    const all = [...left];
    // Those that ended before anybody listened.
    for (const [, listener] of all) listener();
    if (jobs.length === 0) outbox.end();
    const unlisten = whenGone(signal, () => outbox.end());
    try {
      for await (const items of outbox) yield* partsOf(items, bytesOfResult);
    } finally {
      unlisten();
      this.#outboxes.delete(outbox as Outbox<never>);
      for (const [key, listener] of all) this.#unlisten(key, listener);
    }
  }

  async *events(filter: EventsOpen, signal?: AbortSignalLike): AsyncGenerator<readonly JobEvent[], void> {
    const reader: EventReader = { filter, outbox: new Outbox(PROTOCOL_LIMITS.eventsBufferedMax) };
    this.#readers.add(reader);
    const unlisten = whenGone(signal, () => reader.outbox.end());
    try {
      for await (const events of reader.outbox) {
        const count = reader.outbox.takeDropped();
        yield count > 0 ? [...events, { kind: "missed", count }] : events;
      }
    } finally {
      unlisten();
      this.#readers.delete(reader);
    }
  }

  effects(effects: readonly Effect[]): void {
    if (this.#awaited.size === 0 && this.#readers.size === 0) return;
    for (const effect of effects) {
      if (effect.kind !== "status") continue;
      const { tenant, ids, group, status, forgotten } = effect;
      for (const [index, id] of ids.entries()) {
        const listeners = isFinal(status) ? this.#awaited.get(keyOf({ tenant, id })) : undefined;
        if (listeners !== undefined) {
          const ended = forgotten?.[index];
          const end = ended && { tenant, id, status, outcome: outcomeView(ended.outcome) };
          for (const listener of listeners) listener(end);
        }
        if (this.#readers.size > 0)
          this.#tell({ kind: "status", tenant, id, group, status, atMs: this.#wallMs() }, group);
      }
    }
  }

  progress(name: JobName, group: string, progress: unknown): void {
    if (this.#readers.size > 0)
      this.#tell({ kind: "progress", ...name, progress, atMs: this.#wallMs() }, group);
  }

  close(): void {
    for (const { outbox } of this.#readers) outbox.end();
    for (const outbox of this.#outboxes) outbox.end();
  }

  #tell(event: JobEvent & JobName, inGroup: string): void {
    for (const { filter, outbox } of this.#readers) {
      if (filter.tenant !== undefined && filter.tenant !== event.tenant) continue;
      if (filter.group === undefined || filter.group === inGroup) outbox.put(event);
    }
  }

  #listen(key: string, listener: Listener): void {
    const listeners = this.#awaited.get(key) ?? new Set();
    listeners.add(listener);
    this.#awaited.set(key, listeners);
  }

  #unlisten(key: string, listener: Listener): void {
    const listeners = this.#awaited.get(key);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#awaited.delete(key);
  }
}

function itemOf({ tenant, id }: JobName, view: JobView | undefined): ResultItem {
  if (view === undefined) return { tenant, id, status: "cancelled", outcome: undefined, gone: true };
  const outcome =
    view.status === "cancelled" ? ({ kind: "cancelled" } as const) : view.attempts.at(-1)?.outcome;
  return { tenant, id, status: view.status, outcome };
}

function keyOf({ tenant, id }: JobName): string {
  return `${tenant}\n${id}`;
}
