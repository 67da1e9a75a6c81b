/**
 * Makes the core's changes durable, many in one sync: whatever changes while one transaction is being written goes into the next. When a transaction is on
 * disk the mark beside it is raised, then watches hear of it, then the calls that waited for it return.
 *
 * When a transaction fails the memory is ahead of the disk and the journal never writes again: a restart is the only way back to one truth.
 */
import type { ChangeBatch, Entry, Revision } from "@keelson/kernel";
import type { StoreJournal } from "../core/store-core.ts";
import type { Durability } from "../local/store-driver.ts";
import type { DataFile, StoreRecord } from "./data-file.ts";
import type { HighWater } from "./high-water.ts";

export interface JournalEvents {
  /** Everything up to this revision is on disk. */
  durable(revision: Revision): void;
  /** Nothing will be durable any more. */
  failed(cause: unknown): void;
}

/** What waits to be written together, and the promise of those who wait for it. */
class Group {
  readonly keys = new Map<string, Entry | undefined>();
  readonly sessions = new Map<string, number | undefined>();
  readonly done: Promise<void>;
  settle!: { resolve: () => void; reject: (cause: unknown) => void };

  constructor() {
    this.done = new Promise<void>((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    // Those who wait hear of a failure; when nobody waits, `failed` is how it is told.
    this.done.catch(() => undefined);
  }
}

export class Journal implements StoreJournal, Durability {
  readonly #file: Pick<DataFile, "write">;
  readonly #mark: Pick<HighWater, "write">;
  readonly #events: JournalEvents;
  #record: StoreRecord;
  #gathering: Group | undefined;
  #writing: Group | undefined;

  /** `record` is what the file holds now. */
  constructor(
    file: Pick<DataFile, "write">,
    mark: Pick<HighWater, "write">,
    record: StoreRecord,
    events: JournalEvents,
  ) {
    this.#file = file;
    this.#mark = mark;
    this.#record = record;
    this.#events = events;
  }

  changed({ revision, changes }: ChangeBatch): void {
    const { keys } = this.#gather();
    for (const change of changes) {
      if (change.kind === "put") keys.set(change.entry.key, change.entry);
      else keys.set(change.key, undefined);
    }
    this.#record = { ...this.#record, revision };
  }

  sessionOpened(session: string, ttlMs: number): void {
    this.#gather().sessions.set(session, ttlMs);
    this.#record = { ...this.#record, sessionsOpened: this.#record.sessionsOpened + 1 };
  }

  sessionEnded(session: string): void {
    this.#gather().sessions.set(session, undefined);
  }

  settled(): Promise<void> | undefined {
    return (this.#gathering ?? this.#writing)?.done;
  }

  #gather(): Group {
    if (this.#gathering === undefined) {
      this.#gathering = new Group();
      // After this turn's requests have been read, so that they share the sync.
      if (this.#writing === undefined) setImmediate(() => void this.#write());
    }
    return this.#gathering;
  }

  /** Writes group after group until none is left; never rejects. */
  async #write(): Promise<void> {
    while (this.#gathering !== undefined) {
      const group = this.#gathering;
      this.#writing = group;
      this.#gathering = undefined;
      this.#record = { ...this.#record, sequence: this.#record.sequence + 1 };
      const record = this.#record;
      try {
        // oxlint-disable-next-line no-await-in-loop -- one transaction at a time, in order.
        await this.#file.write(record, group);
        this.#mark.write(record);
      } catch (cause) {
        this.#giveUp(cause);
        return;
      }
      this.#events.durable(record.revision);
      group.settle.resolve();
    }
    this.#writing = undefined;
  }

  /** `#writing` stays, so nothing is written any more. */
  #giveUp(cause: unknown): void {
    this.#writing?.settle.reject(cause);
    this.#gathering?.settle.reject(cause);
    this.#events.failed(cause);
  }
}
