/**
 * A store in a folder of this machine, for one process and, through a StoreServer, for others. The process that opens it holds the folder; what it
 * acknowledges is on disk. A restart keeps keys, revisions, sessions and the incarnation, and gives every session a full TTL.
 */
import type { Clock, Random, Store } from "@keelson/kernel";
import { newIncarnation } from "../core/incarnation.ts";
import { StoreCore } from "../core/store-core.ts";
import { FolderError } from "../errors.ts";
import { LocalStore } from "../local/local-store.ts";
import { StoreDriver } from "../local/store-driver.ts";
import { DataFile, type DataFileContents, type StoreRecord } from "./data-file.ts";
import { FolderLock } from "./folder-lock.ts";
import { HighWater } from "./high-water.ts";
import { Journal } from "./journal.ts";

export interface EmbeddedStoreOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly random: Random;
  /** How many batches of changes are kept for watches that resume. */
  readonly historyMax?: number;
}

/** Why the store has the incarnation it has; people want to know when it is a new one. */
export type EmbeddedOrigin = "new" | "kept" | "older data than before" | "data without its mark";

interface Parts {
  readonly lock: FolderLock;
  readonly file: DataFile;
  readonly mark: HighWater;
  readonly journal: Journal;
  readonly driver: StoreDriver;
  readonly origin: EmbeddedOrigin;
}

export class EmbeddedStore extends LocalStore {
  readonly origin: EmbeddedOrigin;
  readonly #parts: Parts;
  #closing: Promise<void> | undefined;

  private constructor(parts: Parts) {
    super(parts.driver);
    this.origin = parts.origin;
    this.#parts = parts;
  }

  /** Throws a FolderError when the folder cannot be used; nothing in it has changed then. */
  static async open(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
    const lock = FolderLock.acquire(options.folder, options.clock);
    let file: DataFile | undefined;
    try {
      refuseLostData(options.folder, DataFile.exists(options.folder));
      file = DataFile.open(options.folder);
      return new EmbeddedStore(await assemble(options, lock, file));
    } catch (error) {
      await file?.close();
      lock.release();
      throw error;
    }
  }

  /** Another client of this store; it ends with the store. */
  connect(): Store {
    return new LocalStore(this.driver);
  }

  /** Makes durable what is not yet, ends every client and leaves the folder. */
  override close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { lock, file, mark, journal, driver } = this.#parts;
    await super.close();
    driver.stop("the embedded store was closed");
    try {
      await journal.settled();
    } finally {
      await file.close();
      mark.close();
      lock.release();
    }
  }
}

/** A mark without data means that the data was taken away: starting anew would hide that. */
function refuseLostData(folder: string, exists: boolean): void {
  const mark = HighWater.read(folder);
  if (mark === undefined || exists) return;
  throw new FolderError(
    "FOLDER_CORRUPT",
    `${folder} held a store at revision ${mark.revision}, but its data.mdb is gone or empty: put it back, or remove the folder to begin anew`,
  );
}

async function assemble(options: EmbeddedStoreOptions, lock: FolderLock, file: DataFile): Promise<Parts> {
  const { folder, clock, random, historyMax } = options;
  const contents = file.read(folder);
  refuseLostData(folder, contents !== undefined);
  const { record, origin } = nextRecord(folder, contents, random);
  await file.write(record, { keys: new Map(), sessions: new Map() });
  const mark = HighWater.open(folder, record);
  const journal: Journal = new Journal(file, mark, record, {
    durable: (revision) => driver.core.release(revision),
    failed: (cause) =>
      driver.stop(
        `the store's folder ${folder} could not be written (${String(cause)}): mend that, then restart the store`,
      ),
  });
  const { incarnation, revision, sessionsOpened } = record;
  const snapshot = contents?.snapshot ?? { entries: [], sessions: [] };
  const core = StoreCore.restore(
    { ...snapshot, incarnation, revision, sessionsOpened },
    {
      now: () => clock.now(),
      wall: () => clock.wall(),
      incarnation,
      journal,
      holdWatches: true,
      ...(historyMax === undefined ? {} : { historyMax }),
    },
  );
  const driver: StoreDriver = new StoreDriver(core, clock, journal);
  return { lock, file, mark, journal, driver, origin };
}

/** The record the store goes on with: the one in the file, unless the mark shows that clients may have seen more than it knows. */
function nextRecord(
  folder: string,
  contents: DataFileContents | undefined,
  random: Random,
): { record: StoreRecord; origin: EmbeddedOrigin } {
  const incarnation = newIncarnation(random);
  if (contents === undefined)
    return { record: { format: 1, incarnation, revision: 0, sequence: 1, sessionsOpened: 0 }, origin: "new" };
  const { record } = contents;
  const sequence = record.sequence + 1;
  const mark = HighWater.read(folder);
  if (mark === undefined)
    return { record: { ...record, incarnation, sequence }, origin: "data without its mark" };
  if (mark.incarnation === record.incarnation && mark.sequence <= record.sequence)
    return { record: { ...record, sequence }, origin: "kept" };
  return {
    record: {
      ...record,
      incarnation,
      revision: Math.max(record.revision, mark.revision),
      sequence: Math.max(sequence, mark.sequence + 1),
    },
    origin: "older data than before",
  };
}
