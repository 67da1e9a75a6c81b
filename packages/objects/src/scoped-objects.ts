/** Objects below one prefix: what a fleet, a service or a shard gets of a place that it shares with others. It cannot name a key outside. */
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
import { rejected } from "./errors.ts";
import { keyPath } from "./folder/names.ts";
import { checkKey } from "./keys.ts";

export class ScopedObjects implements Objects {
  readonly #inner: Objects;
  readonly #prefix: string;

  /** `prefix` ends with a slash. Closing this leaves `inner` open. */
  constructor(inner: Objects, prefix: string) {
    if (!prefix.endsWith("/"))
      throw rejected(`"${prefix}" does not end with a slash, as what keys begin with must`);
    checkKey(prefix.slice(0, -1));
    this.#inner = inner;
    this.#prefix = prefix;
  }

  get place(): string {
    return `${this.#prefix} of ${this.#inner.place}`;
  }

  get journalFolder(): string | undefined {
    const folder = this.#inner.journalFolder;
    return folder === undefined ? undefined : keyPath(folder, `${this.#prefix}x`).folder;
  }

  put(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<void> {
    return this.#inner.put(this.#prefix + key, bytes, options);
  }

  putIfAbsent(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<PutIfAbsentOutcome> {
    return this.#inner.putIfAbsent(this.#prefix + key, bytes, options);
  }

  putStream(key: string, source: AsyncIterable<Uint8Array>, options: ObjectCallOptions): Promise<number> {
    return this.#inner.putStream(this.#prefix + key, source, options);
  }

  async get(key: string, options: GetOptions): Promise<StoredObject | undefined> {
    return this.#outside(await this.#inner.get(this.#prefix + key, options));
  }

  async getRange(
    key: string,
    offset: number,
    lengthBytes: number,
    options: RangeOptions,
  ): Promise<StoredObject | undefined> {
    return this.#outside(await this.#inner.getRange(this.#prefix + key, offset, lengthBytes, options));
  }

  async head(key: string, options: ObjectCallOptions): Promise<ObjectInfo | undefined> {
    return this.#outside(await this.#inner.head(this.#prefix + key, options));
  }

  async list(prefix: string, options: ListOptions): Promise<ObjectPage> {
    const after = options.after === undefined ? undefined : this.#prefix + options.after;
    const page = await this.#inner.list(this.#prefix + prefix, { ...options, after });
    return { ...page, objects: page.objects.map((info) => this.#outside(info)) };
  }

  delete(keys: readonly string[], options: ObjectCallOptions): Promise<void> {
    return this.#inner.delete(
      keys.map((key) => this.#prefix + key),
      options,
    );
  }

  async close(): Promise<void> {}

  #outside<T extends ObjectInfo | undefined>(info: T): T {
    return info === undefined ? info : { ...info, key: info.key.slice(this.#prefix.length) };
  }
}
