/**
 * Files that are being written and are not objects yet. Each process has a folder of its own for them, outside every key's path, so that no reader ever
 * sees one; those that a process left behind when it died are removed by the next one that opens the place.
 */
import { open, readdir, rm, stat, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import type { Clock, Random } from "@keelson/kernel";
import { makeFolders } from "./durable-folders.ts";
import { isErrno } from "./file-errors.ts";
import { formatMark, isGone, ownMark, parseMark } from "./process-mark.ts";

/** Nobody writes one file for longer. Removing one that is still written only makes its writer fail and try again. */
const UNSEEN_AGE_MS_MAX = 24 * 60 * 60 * 1000;

export class TempFiles {
  readonly #folder: string;
  readonly #prefix: string;
  #made = 0;

  /** `root` is the folder for those of all processes. */
  constructor(root: string, random: Random) {
    this.#folder = join(root, formatMark(ownMark()));
    this.#prefix = `${threadId}-${Math.floor(random() * 2 ** 48).toString(36)}`;
  }

  /** Calls `fill` with a new file, and makes its contents durable. Gives its path; when this throws, there is no file. */
  async write(fill: (file: FileHandle) => Promise<void>): Promise<string> {
    this.#made += 1;
    const path = join(this.#folder, `${this.#prefix}-${this.#made}`);
    const file = await this.#create(path);
    try {
      await fill(file);
      await file.datasync();
    } catch (error) {
      await file.close();
      await this.remove(path);
      throw error;
    }
    await file.close();
    return path;
  }

  async remove(path: string): Promise<void> {
    await unlink(path).catch((error: unknown) => {
      if (!isErrno(error, "ENOENT")) throw error;
    });
  }

  async #create(path: string): Promise<FileHandle> {
    try {
      return await open(path, "wx", 0o644);
    } catch (error) {
      if (!isErrno(error, "ENOENT")) throw error;
    }
    await makeFolders(this.#folder);
    return open(path, "wx", 0o644);
  }
}

/** Removes what dead processes left. Those of other machines and containers cannot be seen from here, and are judged by their age. */
export async function removeLeftovers(root: string, clock: Clock): Promise<void> {
  const self = ownMark();
  const names = await readdir(root).catch((error: unknown) => {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  });
  await Promise.all(
    names.map(async (name) => {
      const mark = parseMark(name);
      if (mark === undefined) return;
      const path = join(root, name);
      if (isGone(mark, self) ?? (await isOld(path, clock))) await rm(path, { recursive: true, force: true });
    }),
  );
}

async function isOld(path: string, clock: Clock): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  return info !== undefined && clock.wall() - info.mtimeMs > UNSEEN_AGE_MS_MAX;
}
