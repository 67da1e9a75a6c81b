/** Objects whose every call passes by somebody: who counts, delays, fails or records them, in tests and for measurements. */
import type {
  GetOptions,
  ListOptions,
  ObjectCallOptions,
  ObjectInfo,
  ObjectPage,
  Objects,
  PutIfAbsentOutcome,
  RangeOptions,
  StoredObject,
} from "./contract.ts";

export type ObjectCall =
  | "put"
  | "putIfAbsent"
  | "putStream"
  | "get"
  | "getRange"
  | "head"
  | "list"
  | "delete";

/** Runs the call, or does not. `key` is the prefix of a listing, and the first key of a delete. */
export type Interceptor = <T>(call: ObjectCall, key: string, apply: () => Promise<T>) => Promise<T>;

export class InterceptedObjects implements Objects {
  readonly #inner: Objects;
  readonly #intercept: Interceptor;

  constructor(inner: Objects, intercept: Interceptor) {
    this.#inner = inner;
    this.#intercept = intercept;
  }

  get place(): string {
    return this.#inner.place;
  }

  get journalFolder(): string | undefined {
    return this.#inner.journalFolder;
  }

  put(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<void> {
    return this.#intercept("put", key, () => this.#inner.put(key, bytes, options));
  }

  putIfAbsent(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<PutIfAbsentOutcome> {
    return this.#intercept("putIfAbsent", key, () => this.#inner.putIfAbsent(key, bytes, options));
  }

  putStream(key: string, source: AsyncIterable<Uint8Array>, options: ObjectCallOptions): Promise<number> {
    return this.#intercept("putStream", key, () => this.#inner.putStream(key, source, options));
  }

  get(key: string, options: GetOptions): Promise<StoredObject | undefined> {
    return this.#intercept("get", key, () => this.#inner.get(key, options));
  }

  getRange(
    key: string,
    offset: number,
    lengthBytes: number,
    options: RangeOptions,
  ): Promise<StoredObject | undefined> {
    return this.#intercept("getRange", key, () => this.#inner.getRange(key, offset, lengthBytes, options));
  }

  head(key: string, options: ObjectCallOptions): Promise<ObjectInfo | undefined> {
    return this.#intercept("head", key, () => this.#inner.head(key, options));
  }

  list(prefix: string, options: ListOptions): Promise<ObjectPage> {
    return this.#intercept("list", prefix, () => this.#inner.list(prefix, options));
  }

  delete(keys: readonly string[], options: ObjectCallOptions): Promise<void> {
    return this.#intercept("delete", keys[0] ?? "", () => this.#inner.delete(keys, options));
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
