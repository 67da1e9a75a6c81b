/**
 * Folders whose entries survive power loss. A name in a folder is durable once that folder was synced, and the folder itself once its parents were, up to
 * the root. Which folders are known to be durable is remembered by what they are, not by what they are called, because another process may
 * remove an empty one and make it again.
 */
import { mkdir, open, rmdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isErrno } from "./file-errors.ts";

/** Forgetting all of them costs a few syncs. */
const KNOWN_MAX = 10_000;

export class DurableFolders {
  readonly #root: string;
  /** By path, the identity of a folder whose parents were synced. */
  readonly #known = new Map<string, string>();
  /** The sync that runs for a folder, and the one that comes after it. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, Promise<void>>();

  constructor(root: string) {
    this.#root = root;
  }

  async make(folder: string): Promise<void> {
    await makeFolders(folder);
  }

  /** Makes durable what was done in the folder before this call. Calls that come while a sync runs share the next one. */
  sync(folder: string): Promise<void> {
    const waiting = this.#waiting.get(folder);
    if (waiting !== undefined) return waiting;
    const running = this.#running.get(folder);
    if (running === undefined) return this.#start(folder);
    const next = running
      .catch(() => {
        // Whoever waited for that one was told.
      })
      .then(() => {
        this.#waiting.delete(folder);
        return this.#start(folder);
      });
    this.#waiting.set(folder, next);
    return next;
  }

  /** Removes the folder and its parents as far as they are empty. */
  async prune(folder: string): Promise<void> {
    for (let each = folder; each !== this.#root; each = dirname(each)) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- a parent can go only after its child.
        await rmdir(each);
      } catch (error) {
        if (isErrno(error, "ENOENT")) continue;
        if (isErrno(error, "ENOTEMPTY", "EEXIST", "EBUSY", "EACCES", "EPERM")) return;
        throw error;
      }
      this.#known.delete(each);
    }
  }

  #start(folder: string): Promise<void> {
    const sync = this.#sync(folder).finally(() => {
      if (this.#running.get(folder) === sync) this.#running.delete(folder);
    });
    this.#running.set(folder, sync);
    return sync;
  }

  async #sync(folder: string): Promise<void> {
    const identity = await syncFolder(folder);
    if (folder === this.#root) return;
    if (identity !== undefined && this.#known.get(folder) === identity) return;
    await this.sync(dirname(folder));
    if (identity === undefined) return;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(folder, identity);
  }
}

/**
 * Makes a folder and what is missing above it; gives those it made, the deepest first. Not `mkdir` with `recursive`, which never comes back from a file
 * system that takes no folders (/proc, say).
 */
export async function makeFolders(folder: string): Promise<string[]> {
  try {
    await mkdir(folder);
    return [folder];
  } catch (error) {
    if (isErrno(error, "EEXIST") && (await stat(folder)).isDirectory()) return [];
    if (!isErrno(error, "ENOENT") || dirname(folder) === folder) throw error;
  }
  const above = await makeFolders(dirname(folder));
  try {
    await mkdir(folder);
  } catch (error) {
    // Somebody else made it meanwhile. If it was removed, who needs it says so.
    if (!isErrno(error, "EEXIST")) throw error;
  }
  return [folder, ...above];
}

/** Syncs one folder and says what it is; undefined when it is gone, because somebody removed it with all that was in it. */
export async function syncFolder(folder: string): Promise<string | undefined> {
  let handle;
  try {
    handle = await open(folder, "r");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    await handle.sync();
    const { dev, ino, birthtimeNs } = await handle.stat({ bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } finally {
    await handle.close();
  }
}
