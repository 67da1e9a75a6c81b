/**
 * Objects as files of a folder. What a call acknowledged survives power loss: the bytes are synced before they get their name, and the name is synced before
 * the call ends. A name is given by link (which fails when it is taken, so it is the fence) or by rename. Several processes of one
 * machine may use one folder. The system cannot abort a file operation, so a call that ends early leaves its work to end by itself, unseen.
 */
import { link, open, rename, stat, unlink, type FileHandle } from "node:fs/promises";
import type { BigIntStats } from "node:fs";
import type { Clock, Random } from "@keelson/kernel";
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
import { Deadline } from "../deadline.ts";
import { ObjectError, corrupt } from "../errors.ts";
import { checkKey } from "../keys.ts";
import { checkBody, checkKeys, checkList, checkRange, checkStreamBytes, tooLarge } from "../limits.ts";
import { BLOCK_BYTES, sizeOf } from "../sealed/layout.ts";
import { Sealer, seal } from "../sealed/seal.ts";
import { requireSize, storedRange, unseal, unsealRange } from "../sealed/unseal.ts";
import { DurableFolders } from "./durable-folders.ts";
import { fileError, isErrno } from "./file-errors.ts";
import { filesInOrder } from "./listing.ts";
import { keyPath, type KeyPath } from "./names.ts";
import { openPlace, type FolderPlace } from "./place.ts";
import type { TempFiles } from "./temp-files.ts";

/** A folder may be removed by a deleting process between being made and being used; not this often. */
const NAMING_TRIES_MAX = 20;
const PART_BYTES = 16 * BLOCK_BYTES;
/** Threads that do file operations are few, and a journal needs one too. */
const STATS_AT_A_TIME = 16;

export interface FolderObjectsOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly random: Random;
}

export class FolderObjects implements Objects {
  readonly place: string;
  readonly journalFolder: string;
  readonly #root: string;
  readonly #clock: Clock;
  readonly #temps: TempFiles;
  readonly #folders: DurableFolders;
  readonly #running = new Set<Promise<unknown>>();

  /** Throws OBJECT_DENIED or OBJECT_UNAVAILABLE when the folder cannot be used, with one line that says why. */
  static async open({ folder, clock, random }: FolderObjectsOptions): Promise<FolderObjects> {
    return new FolderObjects(await openPlace(folder, clock, random), clock);
  }

  private constructor({ root, journals, temps }: FolderPlace, clock: Clock) {
    this.#root = root;
    this.place = `file:${root}`;
    this.journalFolder = journals;
    this.#clock = clock;
    this.#temps = temps;
    this.#folders = new DurableFolders(root);
  }

  put(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<void> {
    return this.#call(`put of "${key}"`, options, async (deadline) => {
      checkBody(key, bytes);
      const stored = seal(bytes);
      await this.#replace(key, deadline, (file) => writeAll(file, stored));
    });
  }

  putIfAbsent(key: string, bytes: Uint8Array, options: ObjectCallOptions): Promise<PutIfAbsentOutcome> {
    return this.#call(`put-if-absent of "${key}"`, options, async (deadline) => {
      checkBody(key, bytes);
      const stored = seal(bytes);
      return this.#withTemp(
        (file) => writeAll(file, stored),
        async (temp) => {
          const path = keyPath(this.#root, key);
          const created = await this.#name(path, deadline, () => link(temp, path.file));
          await this.#folders.sync(path.folder);
          return { kind: created ? "created" : "exists" };
        },
      );
    });
  }

  putStream(key: string, source: AsyncIterable<Uint8Array>, options: ObjectCallOptions): Promise<number> {
    return this.#call(`put of "${key}"`, options, async (deadline) => {
      checkKey(key);
      const sealer = new Sealer(PART_BYTES);
      await this.#replace(key, deadline, async (file) => {
        for await (const chunk of source) {
          deadline.check();
          checkStreamBytes(key, sealer.sizeBytes + chunk.length);
          for (const part of sealer.add(chunk)) await writeAll(file, part);
        }
        await writeAll(file, sealer.end());
      });
      return sealer.sizeBytes;
    });
  }

  get(key: string, options: GetOptions): Promise<StoredObject | undefined> {
    return this.#call(`get of "${key}"`, options, (deadline) =>
      this.#withFile(key, deadline, async (file, info, storedBytes) => {
        const large = tooLarge(key, info.sizeBytes, options);
        if (large !== undefined) throw large;
        return { ...info, bytes: unseal(await readAll(file, 0, storedBytes, key), key) };
      }),
    );
  }

  getRange(
    key: string,
    offset: number,
    lengthBytes: number,
    options: RangeOptions,
  ): Promise<StoredObject | undefined> {
    return this.#call(`range of "${key}"`, options, async (deadline) => {
      checkRange(key, offset, lengthBytes);
      return this.#withFile(key, deadline, async (file, info, storedBytes) => {
        if (options.version !== undefined && options.version !== info.version)
          throw new ObjectError("OBJECT_CHANGED", `"${key}" was replaced since it was looked at`);
        const range = storedRange(offset, lengthBytes);
        const wanted = offset < info.sizeBytes && lengthBytes > 0;
        const length = wanted ? Math.min(range.to, storedBytes) - range.from : 0;
        const stored = await readAll(file, range.from, length, key);
        return { ...info, bytes: unsealRange(stored, range, offset, lengthBytes, info.sizeBytes, key) };
      });
    });
  }

  head(key: string, options: ObjectCallOptions): Promise<ObjectInfo | undefined> {
    return this.#call(`head of "${key}"`, options, async () => {
      checkKey(key);
      const status = await statIfThere(keyPath(this.#root, key).file);
      if (status === undefined) return undefined;
      return { key, sizeBytes: requireSize(Number(status.size), key), version: versionOf(status) };
    });
  }

  list(prefix: string, options: ListOptions): Promise<ObjectPage> {
    return this.#call(`listing of "${prefix}"`, options, async (deadline) => {
      const limit = checkList(prefix, options);
      const check = (): void => deadline.check();
      const files = filesInOrder(this.#root, prefix, options.after ?? "", limit + 1, check);
      const objects: ObjectInfo[] = [];
      let batch: Promise<ObjectInfo | undefined>[] = [];
      const settle = async (): Promise<void> => {
        // An object that went away meanwhile is not listed.
        for (const info of await Promise.all(batch)) if (info !== undefined) objects.push(info);
        batch = [];
      };
      for await (const { key, file } of files) {
        if (objects.length + batch.length === limit) {
          await settle();
          if (objects.length === limit) return { objects, more: true };
        }
        batch.push(listedInfo(key, file));
        if (batch.length === STATS_AT_A_TIME) await settle();
      }
      await settle();
      return { objects, more: false };
    });
  }

  delete(keys: readonly string[], options: ObjectCallOptions): Promise<void> {
    return this.#call(`delete of ${keys.length} objects`, options, async (deadline) => {
      checkKeys(keys);
      const paths = keys.map((key) => keyPath(this.#root, key));
      const touched = new Set<string>();
      for (const { file, folder } of paths) {
        deadline.applying();
        // oxlint-disable-next-line no-await-in-loop -- one at a time leaves threads for others.
        if (await remove(file)) touched.add(folder);
      }
      await Promise.all(Array.from(touched, (folder) => this.#folders.sync(folder)));
      for (const folder of touched) {
        // oxlint-disable-next-line no-await-in-loop -- they may share parents.
        await this.#folders.prune(folder);
      }
    });
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #replace(key: string, deadline: Deadline, fill: (file: FileHandle) => Promise<void>): Promise<void> {
    await this.#withTemp(fill, async (temp) => {
      const path = keyPath(this.#root, key);
      await this.#name(path, deadline, () => rename(temp, path.file));
      await this.#folders.sync(path.folder);
    });
  }

  /** Gives a written file its name, making the folder when it is missing. False when the name is taken. */
  async #name({ folder }: KeyPath, deadline: Deadline, name: () => Promise<void>): Promise<boolean> {
    for (let tried = 1; ; tried += 1) {
      deadline.applying();
      try {
        // oxlint-disable-next-line no-await-in-loop -- tried again only when the folder was missing.
        await name();
        return true;
      } catch (error) {
        deadline.notApplied();
        if (isErrno(error, "EEXIST")) return false;
        if (!isErrno(error, "ENOENT") || tried === NAMING_TRIES_MAX) throw error;
      }
      // oxlint-disable-next-line no-await-in-loop -- the same.
      await this.#folders.make(folder);
    }
  }

  async #withTemp<T>(
    fill: (file: FileHandle) => Promise<void>,
    use: (temp: string) => Promise<T>,
  ): Promise<T> {
    const temp = await this.#temps.write(fill);
    try {
      return await use(temp);
    } finally {
      await this.#temps.remove(temp);
    }
  }

  async #withFile<T>(
    key: string,
    deadline: Deadline,
    use: (file: FileHandle, info: ObjectInfo, storedBytes: number) => Promise<T>,
  ): Promise<T | undefined> {
    checkKey(key);
    deadline.check();
    const file = await openIfThere(keyPath(this.#root, key).file);
    if (file === undefined) return undefined;
    try {
      const status = await file.stat({ bigint: true });
      deadline.check();
      const storedBytes = Number(status.size);
      const info = { key, sizeBytes: requireSize(storedBytes, key), version: versionOf(status) };
      return await use(file, info, storedBytes);
    } finally {
      await file.close();
    }
  }

  /** Runs a call within its deadline, and says its failures as the contract does. */
  async #call<T>(
    what: string,
    options: ObjectCallOptions,
    work: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const deadline = new Deadline(this.#clock, what, options);
    try {
      deadline.check();
      const running = work(deadline).finally(() => this.#running.delete(running));
      this.#running.add(running);
      return await deadline.race(running);
    } catch (error) {
      throw fileError(error, what, this.#root, deadline.mayBeApplied);
    } finally {
      deadline.close();
    }
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

async function statIfThere(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

/** Every put makes a new file, so two contents never share both number and time. */
function versionOf({ ino, mtimeNs }: BigIntStats): string {
  return `${ino.toString(36)}-${mtimeNs.toString(36)}`;
}

/** One damaged object does not hide the others: it is listed, and reading it says what is wrong. */
async function listedInfo(key: string, path: string): Promise<ObjectInfo | undefined> {
  const status = await statIfThere(path);
  if (status === undefined) return undefined;
  return { key, sizeBytes: sizeOf(Number(status.size)) ?? 0, version: versionOf(status) };
}

async function readAll(file: FileHandle, from: number, length: number, key: string): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length;) {
    // oxlint-disable-next-line no-await-in-loop -- a read may give less than was asked for.
    const { bytesRead } = await file.read(bytes, at, length - at, from + at);
    if (bytesRead === 0) throw corrupt(`"${key}" is damaged: its file ends before byte ${from + length}`);
    at += bytesRead;
  }
  return bytes;
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    // oxlint-disable-next-line no-await-in-loop -- a write may take less than it was given.
    at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
  }
}

/** False when there was nothing to remove. */
async function remove(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return false;
    throw error;
  }
}
