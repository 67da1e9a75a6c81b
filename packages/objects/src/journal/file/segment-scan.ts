/**
 * Reads the batches of one segment file in order, a piece at a time, and decides about its end. A file ends where its writer was interrupted: what does not
 * check out there was never acknowledged and does not count. Anywhere else it is damage: a whole batch further on proves that this one was acknowledged once.
 */
import { open, type FileHandle } from "node:fs/promises";
import { JournalError } from "../errors.ts";
import {
  BATCH_HEAD_BYTES,
  BATCH_MAGIC,
  batchLength,
  checkBatch,
  type BatchIdentity,
} from "../format/batch.ts";
import { HEADER_BYTES, decodeHeader } from "../format/segment-header.ts";
import type { SegmentFile } from "./journal-folder.ts";

const PIECE_BYTES = 1024 * 1024;

export interface ScannedBatch {
  readonly identity: BatchIdentity;
  /** Stays valid. */
  readonly bytes: Buffer;
}

/** Batches with a sequence of `end` or more are not looked at: an ended writer may have left anything there. */
export async function* scanSegment(segment: SegmentFile, end: number): AsyncGenerator<ScannedBatch> {
  const file = await open(segment.path, "r");
  try {
    const window = new FileWindow(file);
    const header = decodeHeader(await window.at(0, HEADER_BYTES), segment.path);
    // Its writer was interrupted when it made the file.
    if (header === undefined) {
      await checkNothingFollows(window, segment, HEADER_BYTES, segment.first);
      return;
    }
    if (header.kind !== "data" || header.sequence !== segment.first || header.opening !== segment.opening)
      throw damaged(segment, "its header is that of another file");
    let at = HEADER_BYTES;
    for (let expected = segment.first; expected < end; expected += 1) {
      const batch = await readBatch(window, segment, at, expected);
      if (batch === undefined) return;
      yield batch;
      at += batch.bytes.length;
    }
  } finally {
    await file.close();
  }
}

/** The batch at this place; undefined at the end of the file. */
async function readBatch(
  window: FileWindow,
  segment: SegmentFile,
  at: number,
  expected: number,
): Promise<ScannedBatch | undefined> {
  const batch = await tryBatch(window, segment, at, expected);
  if (batch !== undefined) return batch;
  const later = await findLater(window, segment, at + 1, expected);
  if (later === undefined) return undefined;
  // A living writer may have written this one and the next while we looked.
  window.forget();
  const again = await tryBatch(window, segment, at, expected);
  if (again === undefined)
    throw damaged(
      segment,
      `batch ${expected} at byte ${at} does not match its checksum, and batch ${later} follows`,
    );
  return again;
}

async function tryBatch(
  window: FileWindow,
  segment: SegmentFile,
  at: number,
  expected: number,
): Promise<ScannedBatch | undefined> {
  const length = batchLength(await window.at(at, BATCH_HEAD_BYTES), 0);
  if (length === undefined) return undefined;
  const bytes = await window.at(at, length);
  const identity = bytes.length < length ? undefined : checkBatch(bytes, segment.path);
  if (identity === undefined || identity.sequence !== expected || identity.opening !== segment.opening)
    return undefined;
  return { identity, bytes };
}

/** The sequence of some whole batch of this file from `at` on, `expected` or later. */
async function findLater(
  window: FileWindow,
  segment: SegmentFile,
  from: number,
  expected: number,
): Promise<number | undefined> {
  for (let at = from; ;) {
    const piece = await window.at(at, PIECE_BYTES);
    const found = piece.indexOf(BATCH_MAGIC);
    if (found < 0) {
      if (piece.length < PIECE_BYTES) return undefined;
      at += piece.length - BATCH_MAGIC.length + 1;
      continue;
    }
    const length = batchLength(await window.at(at + found, BATCH_HEAD_BYTES), 0) ?? 0;
    const bytes = await window.at(at + found, length);
    const identity = bytes.length < length ? undefined : checkBatch(bytes, segment.path);
    if (identity !== undefined && identity.opening === segment.opening && identity.sequence >= expected)
      return identity.sequence;
    at += found + 1;
  }
}

async function checkNothingFollows(
  window: FileWindow,
  segment: SegmentFile,
  at: number,
  expected: number,
): Promise<void> {
  const later = await findLater(window, segment, at, expected);
  if (later !== undefined)
    throw damaged(segment, `its header does not match its checksum, and batch ${later} follows`);
}

function damaged({ path }: SegmentFile, what: string): JournalError {
  return new JournalError("JOURNAL_CORRUPT", `${path} is damaged: ${what}`);
}

/** A piece of a file in memory, moved along as it is read. */
class FileWindow {
  readonly #file: FileHandle;
  #from = 0;
  #bytes = Buffer.alloc(0);

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** So many bytes from there; fewer at the end of the file. Given bytes are never written to again. */
  async at(from: number, length: number): Promise<Buffer> {
    if (from < this.#from || from + length > this.#from + this.#bytes.length) await this.#load(from, length);
    return this.#bytes.subarray(from - this.#from, from - this.#from + length);
  }

  forget(): void {
    this.#bytes = Buffer.alloc(0);
  }

  async #load(from: number, length: number): Promise<void> {
    const bytes = Buffer.allocUnsafe(Math.max(length, PIECE_BYTES));
    let filled = 0;
    while (filled < bytes.length) {
      // oxlint-disable-next-line no-await-in-loop -- a read may give less than was asked for.
      const { bytesRead } = await this.#file.read(bytes, filled, bytes.length - filled, from + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    this.#from = from;
    this.#bytes = bytes.subarray(0, filled);
  }
}
