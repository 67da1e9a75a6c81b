/**
 * How far the data file of a folder has come, in a file beside it. A data file that lags behind the mark, or has none, was put there from a
 * backup: the store then begins a new incarnation, because its clients may have seen more than it knows.
 *
 * The mark is written after what it counts is durable, so it is never ahead; it is not synced each time, so after a power loss it may be
 * behind, which is harmless.
 */
import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Revision } from "@keelson/kernel";

export interface Mark {
  readonly incarnation: string;
  /** Counts the data file's transactions. */
  readonly sequence: number;
  readonly revision: Revision;
}

const NAME = "high-water";
/** One length for every mark, inside one sector: a write replaces all of the one before, or nothing. */
const BYTES = 256;

export class HighWater {
  readonly #fd: number;
  readonly #line = Buffer.alloc(BYTES);

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** The mark in the folder; undefined when there is none, or when it cannot be understood. */
  static read(folder: string): Mark | undefined {
    let text: string;
    try {
      text = readFileSync(join(folder, NAME), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
    const [version, incarnation, sequence, revision] = text.trim().split(" ");
    if (version !== "1" || incarnation === undefined) return undefined;
    const mark = { incarnation, sequence: Number(sequence), revision: Number(revision) };
    return Number.isSafeInteger(mark.sequence) && Number.isSafeInteger(mark.revision) ? mark : undefined;
  }

  /** Makes the file durable under its name with this first mark. */
  static open(folder: string, mark: Mark): HighWater {
    const file = new HighWater(openSync(join(folder, NAME), constants.O_RDWR | constants.O_CREAT, 0o644));
    file.write(mark);
    fsyncSync(file.#fd);
    syncFolder(folder);
    return file;
  }

  write({ incarnation, sequence, revision }: Mark): void {
    this.#line.fill(" ");
    this.#line.write(`1 ${incarnation} ${sequence} ${revision}`);
    this.#line.write("\n", BYTES - 1);
    writeSync(this.#fd, this.#line, 0, BYTES, 0);
  }

  close(): void {
    fsyncSync(this.#fd);
    closeSync(this.#fd);
  }
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
