/**
 * The lmdb file of an embedded store: one record about the store, one per key, one per session. It is read whole when the store opens and
 * written in transactions that are durable when they resolve; between the two, the truth is in memory.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Entry, Revision } from "@keelson/kernel";
import { open, type Database, type RootDatabase } from "lmdb";
import type { StoreSnapshot } from "../core/snapshot.ts";
import { checkDataFile } from "./data-file-check.ts";
import { corruptFile, unusableFolder } from "./folder.ts";

/** Written as arrays, which keep their meaning in any msgpack reader: [value, revision] or [value, revision, session]. */
type KeyRecord = readonly [value: string, revision: Revision, session?: string];

/** What is true of the store as a whole. */
export interface StoreRecord {
  readonly format: 1;
  readonly incarnation: string;
  readonly revision: Revision;
  readonly sequence: number;
  readonly sessionsOpened: number;
}

/** What one transaction changes. Undefined deletes. */
export interface Changes {
  readonly keys: ReadonlyMap<string, Entry | undefined>;
  /** TTLs in milliseconds. */
  readonly sessions: ReadonlyMap<string, number | undefined>;
}

export interface DataFileContents {
  readonly record: StoreRecord;
  readonly snapshot: StoreSnapshot;
}

const FILE = "data.mdb";
const DATABASES = ["store", "keys", "sessions"];
const STORE_KEY = "store";
/** Address space, not memory or disk: it grows when needed, and this size makes growing rare. */
const MAP_BYTES = 256 * 1024 * 1024;

export class DataFile {
  readonly #root: RootDatabase<unknown, string>;
  readonly #stores: Database<StoreRecord, string>;
  readonly #keys: Database<KeyRecord, Buffer>;
  readonly #sessions: Database<number, Buffer>;

  private constructor(root: RootDatabase<unknown, string>) {
    this.#root = root;
    this.#stores = root.openDB({ name: "store" });
    this.#keys = root.openDB({ name: "keys", keyEncoding: "binary" });
    this.#sessions = root.openDB({ name: "sessions", keyEncoding: "binary" });
  }

  /** Whether there is something to read. */
  static exists(folder: string): boolean {
    return (statSync(join(folder, FILE), { throwIfNoEntry: false })?.size ?? 0) > 0;
  }

  static open(folder: string): DataFile {
    const path = join(folder, FILE);
    checkDataFile(path);
    try {
      // Without overlapping syncs a transaction is on disk when its promise resolves.
      const options = {
        path: folder,
        noSubdir: false,
        overlappingSync: false,
        maxDbs: 3,
        mapSize: MAP_BYTES,
      };
      const root = open<unknown, string>(options);
      refuseForeign(root);
      return new DataFile(root);
    } catch (error) {
      const why = String(error);
      throw why.includes("MDB_") ? corruptFile(path, why, error) : unusableFolder(path, error);
    }
  }

  /** Everything in it; undefined for a file that no store has written to yet. */
  read(folder: string): DataFileContents | undefined {
    const path = join(folder, FILE);
    try {
      const record = this.#stores.get(STORE_KEY);
      if (record === undefined) return undefined;
      if (record.format !== 1)
        throw new Error(`format ${String(record.format)} is not known to this version`);
      const { incarnation, revision, sessionsOpened } = record;
      const sessions = Array.from(this.#sessions.getRange({}), ({ key, value }) => ({
        id: key.toString(),
        ttlMs: value,
        remainingMs: value,
      }));
      const ids = new Set(sessions.map(({ id }) => id));
      const entries = Array.from(this.#keys.getRange({}), ({ key, value }) => entryOf(key, value, ids));
      const counted = [this.#keys, this.#sessions].map(
        (each) => (each.getStats() as { entryCount: number }).entryCount,
      );
      if (counted[0] !== entries.length || counted[1] !== sessions.length)
        throw new Error("records are missing");
      return { record, snapshot: { incarnation, revision, sessionsOpened, entries, sessions } };
    } catch (error) {
      throw corruptFile(path, error instanceof Error ? error.message : String(error), error);
    }
  }

  /** Resolves when all of it is on disk; none of it is, when this rejects. */
  async write(record: StoreRecord, { keys, sessions }: Changes): Promise<void> {
    await this.#root.batch(() => {
      for (const [key, entry] of keys) {
        if (entry === undefined) void this.#keys.remove(Buffer.from(key));
        else void this.#keys.put(Buffer.from(key), recordOf(entry));
      }
      for (const [id, ttlMs] of sessions) {
        if (ttlMs === undefined) void this.#sessions.remove(Buffer.from(id));
        else void this.#sessions.put(Buffer.from(id), ttlMs);
      }
      void this.#stores.put(STORE_KEY, record);
    });
  }

  close(): Promise<void> {
    return this.#root.close();
  }
}

/** Another program's lmdb file must not get our databases beside its own. */
function refuseForeign(root: RootDatabase<unknown, string>): void {
  const foreign = Array.from(root.getKeys({})).filter((name) => !DATABASES.includes(name));
  if (foreign.length > 0) throw new Error(`MDB_INVALID: it holds "${foreign.join(", ")}"`);
}

function recordOf({ value, revision, session }: Entry): KeyRecord {
  return session === undefined ? [value, revision] : [value, revision, session];
}

function entryOf(key: Buffer, record: KeyRecord, sessions: ReadonlySet<string>): Entry {
  const [value, revision, session] = record;
  const name = key.toString();
  if (typeof value !== "string" || !Number.isSafeInteger(revision))
    throw new Error(`key "${name}" has no value`);
  if (session === undefined) return { key: name, value, revision };
  if (!sessions.has(session)) throw new Error(`key "${name}" names a session that is not there`);
  return { key: name, value, revision, session };
}
