/**
 * The folder itself: made durably if it is not there, refused if it holds something else, and marked as ours with the format it is in.
 *
 *   .keelson-objects    what marks it, one line of JSON
 *   .tmp/               files that are being written (temp-files.ts)
 *   .journal/           journals, which append to files (../journal)
 *   everything else     objects (names.ts)
 */
import { link, readFile, readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Clock, Random } from "@keelson/kernel";
import { ObjectError } from "../errors.ts";
import { makeFolders, syncFolder } from "./durable-folders.ts";
import { fileError, isErrno } from "./file-errors.ts";
import { TempFiles, removeLeftovers } from "./temp-files.ts";

const MARK = ".keelson-objects";
const FORMAT = 1;

export interface FolderPlace {
  /** Absolute. */
  readonly root: string;
  readonly journals: string;
  readonly temps: TempFiles;
}

export async function openPlace(folder: string, clock: Clock, random: Random): Promise<FolderPlace> {
  const root = resolve(folder);
  try {
    await makeDurably(root);
    const temporary = join(root, ".tmp");
    const temps = new TempFiles(temporary, random);
    await claim(root, temps);
    await removeLeftovers(temporary, clock);
    return { root, journals: join(root, ".journal"), temps };
  } catch (error) {
    if (isErrno(error, "ENOTDIR", "EEXIST"))
      throw new ObjectError("OBJECT_DENIED", `${root} is not a folder: name one, or a place for a new one`, {
        cause: error,
      });
    throw fileError(error, "opening a place for objects", root, false);
  }
}

/** Makes the folder and what is missing above it, and syncs the folders that got a new entry. */
async function makeDurably(root: string): Promise<void> {
  for (const made of await makeFolders(root)) {
    // oxlint-disable-next-line no-await-in-loop -- at most as many as were made.
    await syncFolder(dirname(made));
  }
}

async function claim(root: string, temps: TempFiles): Promise<void> {
  const mark = join(root, MARK);
  const text = await readMark(mark);
  if (text !== undefined) return checkMark(root, text);
  const strange = (await readdir(root)).find((name) => !name.startsWith("."));
  if (strange !== undefined)
    throw new ObjectError(
      "OBJECT_DENIED",
      `${root} holds "${strange}", and no objects of ours: name an empty folder, or one that Keelson made`,
    );
  const temp = await temps.write((file) => file.writeFile(`${JSON.stringify({ format: FORMAT })}\n`));
  try {
    await link(temp, mark);
  } catch (error) {
    if (isErrno(error, "EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP"))
      throw new ObjectError(
        "OBJECT_DENIED",
        `the file system of ${root} has no hard links, which put-if-absent needs: name a folder on another one`,
        { cause: error },
      );
    // Another process was faster.
    if (!isErrno(error, "EEXIST")) throw error;
  } finally {
    await temps.remove(temp);
  }
  await syncFolder(root);
}

async function readMark(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

function checkMark(root: string, text: string): void {
  let format: unknown;
  try {
    format = (JSON.parse(text) as { format?: unknown }).format;
  } catch {
    format = "unreadable";
  }
  if (format !== FORMAT)
    throw new ObjectError(
      "OBJECT_REJECTED",
      `${root} has format ${String(format)}, and this version knows format ${FORMAT}`,
    );
}
