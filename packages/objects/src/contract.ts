/**
 * Objects as Keelson sees them: named, immutable-by-habit byte strings that survive the loss of every process and machine. A folder, S3 and memory
 * meet this contract, and one suite in `contract-suite` holds them to it.
 *
 * Put-if-absent is the only fence there is: of any number of writers of one key, in any number of processes, exactly one is told "created".
 * Bytes come back as they were given or not at all: every stored block carries a checksum that is verified on the way out.
 */

export interface ObjectCallOptions {
  /** The whole call, its retries included, ends after this long. Every call has a deadline. */
  readonly timeoutMs: number;
  /** Ends the call early: with OBJECT_ABORTED, or OBJECT_UNKNOWN for a write that was already on its way. */
  readonly signal?: AbortSignal | undefined;
}

export interface ObjectInfo {
  readonly key: string;
  /** In a listing, 0 for an object that is damaged beyond having a size; reading it says so. */
  readonly sizeBytes: number;
  /** Differs between two contents of one key. Opaque. */
  readonly version: string;
}

export interface StoredObject extends ObjectInfo {
  readonly bytes: Buffer;
}

/** Expected outcomes are values. After `exists`, what is there is somebody's whole object, never a part of one. */
export type PutIfAbsentOutcome = { readonly kind: "created" } | { readonly kind: "exists" };

export interface ListOptions extends ObjectCallOptions {
  /** Only keys that come after this one. */
  readonly after?: string | undefined;
  /** At most so many, 1,000 when not given. */
  readonly limit?: number | undefined;
}

export interface ObjectPage {
  /** In the order of the keys' UTF-8 bytes. */
  readonly objects: readonly ObjectInfo[];
  /** More follow: ask again with `after` set to the last key of this page. */
  readonly more: boolean;
}

export interface GetOptions extends ObjectCallOptions {
  /** A larger object is refused instead of read into memory. */
  readonly bytesMax?: number | undefined;
}

export interface RangeOptions extends ObjectCallOptions {
  /** The version an earlier call saw; OBJECT_CHANGED when it is another one by now. */
  readonly version?: string | undefined;
}

/** Limits that every implementation keeps with OBJECT_REJECTED. */
export const OBJECT_LIMITS = {
  /** S3 takes 1,024 with the prefix that all keys of a fleet share. */
  keyBytesMax: 900,
  /** For `put`, `get` and one range; larger objects are written by `putStream` and read by range. */
  bodyBytesMax: 256 * 1024 * 1024,
  /** 10,000 parts of 8 MiB. */
  streamBytesMax: 10_000 * 8 * 1024 * 1024,
  listLimitMax: 1000,
  deleteKeysMax: 1000,
} as const;

export interface Objects {
  /** Where it is, for people: never holds a secret. */
  readonly place: string;
  /** A folder of this machine where a journal may append to files; absent where only whole objects can be written. */
  readonly journalFolder?: string | undefined;

  /** Creates or replaces. Durable when it resolves. Of two at once one is last; which one is not said. */
  put(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<void>;
  /** Creates, or changes nothing. Durable when it resolves, and so is what it found when that is `exists`. */
  putIfAbsent(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<PutIfAbsentOutcome>;
  /** Creates or replaces with bytes of unknown number, holding only a few parts of them in memory. Not visible before it resolves. Gives the size. */
  putStream(key: string, source: AsyncIterable<Uint8Array>, options: ObjectCallOptions): Promise<number>;
  /** The whole object, or undefined when there is none. */
  get(key: string, options: GetOptions): Promise<StoredObject | undefined>;
  /** The bytes from `offset`, `lengthBytes` of them or as many as there are, with the whole object's size; undefined when there is no such object. */
  getRange(
    key: string,
    offset: number,
    lengthBytes: number,
    options: RangeOptions,
  ): Promise<StoredObject | undefined>;
  head(key: string, options: ObjectCallOptions): Promise<ObjectInfo | undefined>;
  /** A page of the keys that begin with `prefix`. An object that is there all the time is on exactly one page; what came before the call is seen. */
  list(prefix: string, options: ListOptions): Promise<ObjectPage>;
  /** Deletes what is there of these keys. When it fails, some may be gone. */
  delete(keys: readonly string[], options: ObjectCallOptions): Promise<void>;
  /** Lets go of connections and files. Calls under way end first. */
  close(): Promise<void>;
}
