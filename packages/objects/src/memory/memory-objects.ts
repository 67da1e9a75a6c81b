/**
 * Objects in memory, for tests, simulation and `memory:`. It keeps the contract, seals included, except that nothing survives the process. It answers
 * in microtasks, so that a run in virtual time is the same every time.
 */
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
} from "../contract.ts";
import { ObjectError } from "../errors.ts";
import { checkKey, compareKeys } from "../keys.ts";
import { checkBody, checkKeys, checkList, checkRange, checkStreamBytes, tooLarge } from "../limits.ts";
import { seal } from "../sealed/seal.ts";
import { requireSize, storedRange, unseal, unsealRange } from "../sealed/unseal.ts";

interface Entry {
  readonly stored: Buffer;
  readonly version: string;
}

export class MemoryObjects implements Objects {
  readonly place = "memory:";
  readonly #entries = new Map<string, Entry>();
  /** The keys in order, made anew when asked for after keys came or went. */
  #sorted: string[] | undefined;
  #versions = 0;

  async put(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<void> {
    checkBody(key, bytes);
    checkCall(options);
    this.#set(key, seal(bytes));
  }

  async putIfAbsent(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<PutIfAbsentOutcome> {
    checkBody(key, bytes);
    checkCall(options);
    if (this.#entries.has(key)) return { kind: "exists" };
    this.#set(key, seal(bytes));
    return { kind: "created" };
  }

  async putStream(
    key: string,
    source: AsyncIterable<Uint8Array>,
    options: ObjectCallOptions,
  ): Promise<number> {
    checkKey(key);
    checkCall(options);
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    for await (const chunk of source) {
      sizeBytes += chunk.length;
      checkStreamBytes(key, sizeBytes);
      checkCall(options);
      chunks.push(Buffer.from(chunk));
    }
    this.#set(key, seal(Buffer.concat(chunks)));
    return sizeBytes;
  }

  async get(key: string, options: GetOptions): Promise<StoredObject | undefined> {
    const info = await this.head(key, options);
    if (info === undefined) return undefined;
    const large = tooLarge(key, info.sizeBytes, options);
    if (large !== undefined) throw large;
    return { ...info, bytes: unseal(Buffer.from(this.#entries.get(key)!.stored), key) };
  }

  async getRange(
    key: string,
    offset: number,
    lengthBytes: number,
    options: RangeOptions,
  ): Promise<StoredObject | undefined> {
    checkRange(key, offset, lengthBytes);
    const info = await this.head(key, options);
    if (info === undefined) return undefined;
    if (options.version !== undefined && options.version !== info.version)
      throw new ObjectError("OBJECT_CHANGED", `"${key}" was replaced`);
    const range = storedRange(offset, lengthBytes);
    const stored = Buffer.from(this.#entries.get(key)!.stored.subarray(range.from, range.to));
    return { ...info, bytes: unsealRange(stored, range, offset, lengthBytes, info.sizeBytes, key) };
  }

  async head(key: string, options: ObjectCallOptions): Promise<ObjectInfo | undefined> {
    checkKey(key);
    checkCall(options);
    return this.#info(key);
  }

  async list(prefix: string, options: ListOptions): Promise<ObjectPage> {
    const limit = checkList(prefix, options);
    checkCall(options);
    const after = options.after ?? "";
    this.#sorted ??= Array.from(this.#entries.keys()).sort(compareKeys);
    const found: ObjectInfo[] = [];
    for (let at = firstAfter(this.#sorted, after, prefix); at < this.#sorted.length; at += 1) {
      const key = this.#sorted[at]!;
      if (!key.startsWith(prefix)) break;
      if (found.length === limit) return { objects: found, more: true };
      found.push(this.#info(key)!);
    }
    return { objects: found, more: false };
  }

  async delete(keys: readonly string[], options: ObjectCallOptions): Promise<void> {
    checkKeys(keys);
    checkCall(options);
    for (const key of keys) if (this.#entries.delete(key)) this.#sorted = undefined;
  }

  async close(): Promise<void> {}

  /** Changes one stored byte, as a failing disk would. */
  damage(key: string, at: number): void {
    const { stored } = this.#entries.get(key)!;
    stored[at] = stored[at]! ^ 1;
  }

  #set(key: string, stored: Buffer): void {
    if (!this.#entries.has(key)) this.#sorted = undefined;
    this.#versions += 1;
    this.#entries.set(key, { stored, version: `${this.#versions}` });
  }

  #info(key: string): ObjectInfo | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    return { key, sizeBytes: requireSize(entry.stored.length, key), version: entry.version };
  }
}

/** Nothing here takes time, so a deadline only has to be one. */
function checkCall({ timeoutMs, signal }: ObjectCallOptions): void {
  if (!(timeoutMs > 0))
    throw new ObjectError("OBJECT_REJECTED", `timeoutMs is ${timeoutMs}: give one above 0`);
  if (signal?.aborted === true) throw new ObjectError("OBJECT_ABORTED", "the call was aborted");
}

/** The index of the first key that comes after `after` and not before `prefix`. */
function firstAfter(sorted: readonly string[], after: string, prefix: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const key = sorted[middle]!;
    if (compareKeys(key, after) > 0 && compareKeys(key, prefix) >= 0) high = middle;
    else low = middle + 1;
  }
  return low;
}
