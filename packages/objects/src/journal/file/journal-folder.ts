/**
 * The files of one journal, by name:
 *
 *   segment-<first sequence>-<opening>   batches, appended and synced (header, then batches)
 *   fence-<number>                       somebody opened the journal, or fenced streams of it; never removed, because a writer that was ended long ago may wake up
 *   cut-<number>                         which batches from before that fence count
 *   floor-<sequence>                     batches below are trimmed
 *
 * All but segments are written once, whole, by put-if-absent: made under another name, synced, linked. Segments are ordered by opening and first sequence.
 */
import { link, readFile, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Random } from "@keelson/kernel";
import { makeFolders, syncFolder } from "../../folder/durable-folders.ts";
import { isErrno } from "../../folder/file-errors.ts";
import { TempFiles } from "../../folder/temp-files.ts";
import { dirname } from "node:path";

export interface SegmentFile {
  readonly path: string;
  readonly first: number;
  readonly opening: number;
}

export interface FolderContents {
  readonly segments: readonly SegmentFile[];
  /** In order. */
  readonly fences: readonly number[];
  /** The highest one; 0 when nothing was trimmed. */
  readonly floor: number;
  readonly floors: readonly number[];
}

export class JournalFolder {
  readonly path: string;
  readonly temporary: string;
  readonly #temps: TempFiles;

  constructor(path: string, random: Random) {
    this.path = path;
    this.temporary = join(path, ".tmp");
    this.#temps = new TempFiles(this.temporary, random);
  }

  /** Makes the folder, durably. */
  async make(): Promise<void> {
    for (const made of await makeFolders(this.path)) {
      // oxlint-disable-next-line no-await-in-loop -- at most as many as were made.
      await syncFolder(dirname(made));
    }
  }

  async contents(): Promise<FolderContents> {
    const segments: SegmentFile[] = [];
    const fences: number[] = [];
    const floors: number[] = [];
    for (const name of await this.#names()) {
      const match = /^(segment|fence|floor)-(\d+)(?:-(\d+))?$/.exec(name);
      if (match === null) continue;
      const [, kind, number, opening] = match;
      if (kind === "fence") fences.push(Number(number));
      else if (kind === "floor") floors.push(Number(number));
      else segments.push({ path: join(this.path, name), first: Number(number), opening: Number(opening) });
    }
    const inOrder = (a: number, b: number): number => a - b;
    return {
      segments: segments.sort((a, b) => a.opening - b.opening || a.first - b.first),
      fences: fences.sort(inOrder),
      floors: floors.sort(inOrder),
      floor: Math.max(0, ...floors),
    };
  }

  segmentPath(first: number, opening: number): string {
    return join(this.path, `segment-${digits(first, 16)}-${digits(opening, 8)}`);
  }

  fencePath(number: number): string {
    return join(this.path, `fence-${digits(number, 8)}`);
  }

  cutPath(number: number): string {
    return join(this.path, `cut-${digits(number, 8)}`);
  }

  floorPath(sequence: number): string {
    return join(this.path, `floor-${digits(sequence, 16)}`);
  }

  /** Undefined when there is no such file. */
  async read(path: string): Promise<Buffer | undefined> {
    try {
      return await readFile(path);
    } catch (error) {
      if (isErrno(error, "ENOENT")) return undefined;
      throw error;
    }
  }

  /** Makes a whole file of that name, durably, unless there is one. Either way the name is durable afterwards. */
  async create(path: string, bytes: Buffer): Promise<boolean> {
    const temp = await this.#temps.write((file) => file.writeFile(bytes));
    try {
      await link(temp, path);
      return true;
    } catch (error) {
      if (isErrno(error, "EEXIST")) return false;
      throw error;
    } finally {
      await this.#temps.remove(temp);
      await syncFolder(this.path);
    }
  }

  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      // oxlint-disable-next-line no-await-in-loop -- in this order, so that what is left has no holes.
      await unlink(path).catch((error: unknown) => {
        if (!isErrno(error, "ENOENT")) throw error;
      });
    }
    if (paths.length > 0) await syncFolder(this.path);
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.path);
    } catch (error) {
      if (isErrno(error, "ENOENT")) return [];
      throw error;
    }
  }
}

function digits(number: number, count: number): string {
  return String(number).padStart(count, "0");
}
