/**
 * Pages in SlateDB, over a folder or S3. Opening fences whoever had the pages open before: SlateDB's writer epoch in its manifest decides, and a write
 * that was not durable by then is refused. On a folder SlateDB itself never syncs, so every write here ends with a sync of the files it made.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Db, DbBuilder, FlushType, ObjectStore, Settings, WriteBatch } from "@slatedb/uniffi";
import { removeEmptyTail } from "./empty-tail.ts";
import { FolderSync } from "./folder-sync.ts";
import type { PageBatch, PageEntry, Pages, ScanOptions } from "./pages.ts";

/** Where pages lie: a folder of this machine, or a bucket. Credentials of S3 come from the environment, as SlateDB reads it. */
export type PagePlace =
  | { readonly kind: "folder"; readonly folder: string }
  | { readonly kind: "s3"; readonly url: string; readonly endpoint?: string };

export interface SlatePagesOptions {
  readonly place: PagePlace;
  /** One database per shard. */
  readonly name: string;
}

/** Memtables up to this size are written by one flush. Pages are written rarely and in large batches. */
const L0_BYTES = 16 * 1024 * 1024;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** SlateDB would take a gigabyte into memory before it lets writers wait. */
const UNFLUSHED_BYTES_MAX = 16 * 1024 * 1024;
/** Handed over in one turn of the event loop: a few milliseconds. */
const TURN_BYTES = 256 * 1024;

export class SlatePages implements Pages {
  readonly #db: Db;
  readonly #store: ObjectStore;
  readonly #sync: FolderSync | undefined;
  /** Written since the last flush. */
  #unflushedBytes = 0;
  #closed: Promise<void> | undefined;

  private constructor(db: Db, store: ObjectStore, sync: FolderSync | undefined) {
    this.#db = db;
    this.#store = store;
    this.#sync = sync;
  }

  static async open({ place, name }: SlatePagesOptions): Promise<SlatePages> {
    if (place.kind === "folder") {
      await mkdir(join(place.folder, name), { recursive: true });
      await removeEmptyTail(join(place.folder, name));
    }
    const url = place.kind === "folder" ? pathToFileURL(place.folder).href : place.url;
    const store = ObjectStore.resolve(url);
    try {
      const db = await build(name, store);
      const sync = place.kind === "folder" ? new FolderSync(join(place.folder, name)) : undefined;
      // What the opening wrote (a manifest, a fence) must not be lost by a power failure either.
      await sync?.run();
      return new SlatePages(db, store, sync);
    } catch (error) {
      store.dispose();
      throw error;
    }
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return this.#db.get(Buffer.from(key));
  }

  async scan(prefix: string, { after, limit }: ScanOptions): Promise<readonly PageEntry[]> {
    const start = after !== undefined && after > prefix ? after : prefix;
    const iterator = await this.#db.scan({
      start: start === "" ? undefined : Buffer.from(start),
      start_inclusive: start !== after,
      end: prefix === "" ? undefined : endOf(prefix),
      end_inclusive: false,
    });
    try {
      const found: PageEntry[] = [];
      while (found.length < limit) {
        // oxlint-disable-next-line no-await-in-loop -- the binding gives one row at a time.
        const row = await iterator.next();
        if (row === undefined) break;
        found.push({ key: Buffer.from(row.key).toString("ascii"), value: row.value });
      }
      return found;
    } finally {
      iterator.dispose();
    }
  }

  async write(pages: PageBatch): Promise<void> {
    const batch = new WriteBatch();
    const batchBytes = pages.put.reduce((sum, { value }) => sum + value.length, 0);
    try {
      let bytes = 0;
      for (const { key, value } of pages.put) {
        batch.put(Buffer.from(key), value);
        bytes += value.length;
        if (bytes < TURN_BYTES) continue;
        bytes = 0;
        // oxlint-disable-next-line no-await-in-loop -- the binding takes them byte by byte, in this thread.
        await turn();
      }
      for (const key of pages.delete) batch.delete(Buffer.from(key));
      await this.#db.write_with_options(batch, { await_durable: false });
    } finally {
      batch.dispose();
    }
    this.#unflushedBytes += batchBytes;
    if (pages.durable === false && this.#unflushedBytes < UNFLUSHED_BYTES_MAX) return;
    this.#unflushedBytes = 0;
    // A fenced writer accepts writes into memory and is told by the flush.
    const flush_type = batchBytes > BATCH_BYTES_MAX ? FlushType.MemTable : FlushType.Wal;
    await this.#db.flush_with_options({ flush_type });
    await this.#sync?.run();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      await this.#db.shutdown();
      await this.#sync?.run();
    } finally {
      this.#db.dispose();
      this.#store.dispose();
    }
  }
}

async function build(name: string, store: ObjectStore): Promise<Db> {
  const builder = new DbBuilder(name, store);
  const settings = Settings.default();
  try {
    // Never by itself: on a folder that would be a file which nobody syncs, and which a power failure may leave empty. SlateDB opens no database that has one.
    settings.set("flush_interval", "null");
    settings.set("l0_sst_size_bytes", String(L0_BYTES));
    builder.with_settings(settings);
    return await builder.build();
  } finally {
    settings.dispose();
    builder.dispose();
  }
}

/** The first key that comes after all that begin with the prefix. Keys are ASCII. */
function endOf(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  end[end.length - 1]! += 1;
  return end;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
