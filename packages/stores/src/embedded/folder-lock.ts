/**
 * One process holds a folder. The lock dies with its process, however that ends: it is a file that names the process, and it counts only while
 * that process lives.
 *
 * Files are numbered, `keelson.lock.<n>`; the highest number counts. Whoever finds it dead or released links its own file as n + 1, and link()
 * lets one win. Numbers never fall, because a released file stays until a higher one is there; so nobody can take what another took
 * meanwhile, and a latecomer who links a number that was cleaned away sees the higher one and withdraws.
 */
import { linkSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "@keelson/kernel";
import { FolderError } from "../errors.ts";
import { unusableFolder } from "./folder.ts";
import { isAlive, ownIdentity, type ProcessIdentity } from "./process-identity.ts";

interface Holder extends ProcessIdentity {
  readonly since: string;
  readonly released: boolean;
}

const NAME = /^keelson\.lock\.(?<number>\d{1,15})$/;
/** Each try that fails means that another process moved; more than a few in a row means that something else is wrong. */
const TRIES_MAX = 50;

export class FolderLock {
  readonly folder: string;
  readonly #file: string;
  readonly #holder: Holder;
  #released = false;

  private constructor(folder: string, file: string, holder: Holder) {
    this.folder = folder;
    this.#file = file;
    this.#holder = holder;
  }

  /** Makes the folder if need be and takes it, or throws a FolderError that says who has it. */
  static acquire(folder: string, clock: Pick<Clock, "wall">): FolderLock {
    const since = new Date(clock.wall()).toISOString();
    const holder: Holder = { ...ownIdentity(), since, released: false };
    const draft = join(folder, `.keelson.lock.${holder.pid}.${process.hrtime.bigint()}`);
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(draft, JSON.stringify(holder), { flag: "wx" });
    } catch (error) {
      throw unusableFolder(folder, error);
    }
    try {
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const highest = highestLock(folder);
        if (highest > 0) refuseIfHeld(folder, lockFile(folder, highest), holder);
        if (!linked(draft, lockFile(folder, highest + 1))) continue;
        if (highestLock(folder) !== highest + 1) {
          rmSync(lockFile(folder, highest + 1), { force: true });
          continue;
        }
        removeOlder(folder, highest + 1);
        return new FolderLock(folder, lockFile(folder, highest + 1), holder);
      }
    } finally {
      rmSync(draft, { force: true });
    }
    throw new FolderError(
      "FOLDER_HELD",
      `folder ${folder} could not be locked: others keep taking it; try again`,
    );
  }

  /** Leaves the folder to others. Releasing twice is fine, and so is a folder that somebody removed meanwhile: nobody has it then. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    const draft = `${this.#file}.released`;
    try {
      writeFileSync(draft, JSON.stringify({ ...this.#holder, released: true }));
      renameSync(draft, this.#file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

function lockFile(folder: string, number: number): string {
  return join(folder, `keelson.lock.${number}`);
}

function lockNumbers(folder: string): number[] {
  return readdirSync(folder).flatMap((name) => {
    const number = NAME.exec(name)?.groups?.["number"];
    return number === undefined ? [] : [Number(number)];
  });
}

function highestLock(folder: string): number {
  return Math.max(0, ...lockNumbers(folder));
}

function removeOlder(folder: string, number: number): void {
  for (const older of lockNumbers(folder))
    if (older < number) rmSync(lockFile(folder, older), { force: true });
}

/** Whether this process was the one that made the file. */
function linked(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw unusableFolder(file, error);
  }
}

function refuseIfHeld(folder: string, file: string, self: ProcessIdentity): void {
  const holder = readHolder(file);
  if (holder === undefined || holder.released) return;
  const alive = isAlive(holder, self);
  if (alive === false) return;
  const who = `pid ${holder.pid} (${holder.command}) since ${holder.since}`;
  throw new FolderError(
    "FOLDER_HELD",
    alive === true
      ? `folder ${folder} is held by ${who}: stop that process, or name another folder`
      : `folder ${folder} is held by ${who} on host ${holder.host}, which cannot be seen from here: if it has ended, remove ${file}`,
  );
}

/** Undefined when the file was cleaned away meanwhile. */
function readHolder(file: string): Holder | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusableFolder(file, error);
  }
  try {
    return JSON.parse(text) as Holder;
  } catch (cause) {
    throw new FolderError(
      "FOLDER_CORRUPT",
      `${file} is not a lock file: if no process uses the folder, remove it`,
      {
        cause,
      },
    );
  }
}
