/**
 * One batch: what one flush wrote. All or nothing of it counts, because one checksum covers it.
 *
 *    0  u32  magic "KJBT"          20  u32  CRC-32 of everything else
 *    4  u8   version (1)           24  u64  sequence
 *    5  u8   0                     32  u64  opening (as in the header: whose batch it is)
 *    6  u16  streams               40  u64  wall clock, ms
 *    8  u32  records               48  the index: per stream u16 length, the id, u64 era, u64 revision, u32 records, u32 bytes
 *   12  u32  bytes of the index        then the records: per record u32 length, u16 which stream of the index, the bytes
 *   16  u32  bytes of the records
 */
import { crc32 } from "node:zlib";
import type { Epoch } from "@keelson/kernel";
import { JOURNAL_LIMITS, type JournalBatch, type JournalRecord } from "../contract.ts";
import { JournalError } from "../errors.ts";
import { readNumber, writeNumber } from "./numbers.ts";

export const BATCH_HEAD_BYTES = 48;
export const RECORD_HEAD_BYTES = 6;

const MAGIC = 0x54424a4b;
const VERSION = 1;
const CHECKSUM_AT = 20;

/** The bytes that every batch begins with. */
export const BATCH_MAGIC = Buffer.from([0x4b, 0x4a, 0x42, 0x54]);

/** A stream's line of the index: its constant part, encoded once, and the counts. */
export interface IndexLine {
  readonly encoded: Buffer;
  readonly records: number;
  readonly bytes: number;
}

export function encodeStream(id: string, { era, revision }: Epoch): Buffer {
  const length = Buffer.byteLength(id);
  const bytes = Buffer.alloc(2 + length + 16);
  bytes.writeUInt16LE(length, 0);
  bytes.write(id, 2);
  writeNumber(bytes, era, 2 + length);
  writeNumber(bytes, revision, 10 + length);
  return bytes;
}

export function headBytes(lines: readonly IndexLine[]): number {
  return lines.reduce((sum, { encoded }) => sum + encoded.length + 8, BATCH_HEAD_BYTES);
}

export interface BatchIdentity {
  readonly sequence: number;
  readonly opening: number;
  readonly atMs: number;
}

/** Writes head and index of a batch into `into`, which has `headBytes` of room. `records` are the encoded records. */
export function encodeHead(
  into: Buffer,
  { sequence, opening, atMs }: BatchIdentity,
  lines: readonly IndexLine[],
  records: Buffer,
): void {
  let count = 0;
  let at = BATCH_HEAD_BYTES;
  for (const line of lines) {
    count += line.records;
    at += line.encoded.copy(into, at);
    at = into.writeUInt32LE(line.records, at);
    at = into.writeUInt32LE(line.bytes, at);
  }
  into.writeUInt32LE(MAGIC, 0);
  into.writeUInt32LE(VERSION | (lines.length << 16), 4);
  into.writeUInt32LE(count, 8);
  into.writeUInt32LE(at - BATCH_HEAD_BYTES, 12);
  into.writeUInt32LE(records.length, 16);
  writeNumber(into, sequence, 24);
  writeNumber(into, opening, 32);
  writeNumber(into, Math.max(0, Math.floor(atMs)), 40);
  into.writeUInt32LE(crc32(records, checksum(into.subarray(0, at))), CHECKSUM_AT);
}

/** The length of the batch that begins here; undefined when none does, or when not enough of it is here to tell. */
export function batchLength(bytes: Buffer, at: number): number | undefined {
  if (bytes.length - at < BATCH_HEAD_BYTES || bytes.readUInt32LE(at) !== MAGIC) return undefined;
  const length = BATCH_HEAD_BYTES + bytes.readUInt32LE(at + 12) + bytes.readUInt32LE(at + 16);
  return length <= JOURNAL_LIMITS.batchBytesMax ? length : undefined;
}

/** Whose batch lies here, and whether it is whole. `bytes` are exactly those of the batch. */
export function checkBatch(bytes: Buffer, name: string): BatchIdentity | undefined {
  if (batchLength(bytes, 0) !== bytes.length) return undefined;
  if (bytes.readUInt32LE(CHECKSUM_AT) !== checksum(bytes)) return undefined;
  if (bytes[4] !== VERSION)
    throw new JournalError(
      "JOURNAL_REJECTED",
      `${name} has a batch of format ${bytes[4]}, which this version does not know`,
    );
  return { sequence: readNumber(bytes, 24), opening: readNumber(bytes, 32), atMs: readNumber(bytes, 40) };
}

function checksum(bytes: Buffer): number {
  return crc32(bytes.subarray(CHECKSUM_AT + 4), crc32(bytes.subarray(0, CHECKSUM_AT)));
}

/** Which records to give out. */
export type RecordFilter = (stream: string, epoch: Epoch) => boolean;

/** The records of a batch that `checkBatch` found whole. Their bytes lie in `bytes`. */
export function decodeBatch(
  bytes: Buffer,
  { sequence, atMs }: BatchIdentity,
  wanted: RecordFilter,
): JournalBatch {
  const streams = readIndex(bytes, wanted);
  const records: JournalRecord[] = [];
  if (streams.some((each) => each !== undefined)) {
    let at = BATCH_HEAD_BYTES + bytes.readUInt32LE(12);
    for (let left = bytes.readUInt32LE(8); left > 0; left -= 1) {
      const end = at + RECORD_HEAD_BYTES + bytes.readUInt32LE(at);
      const stream = streams[bytes.readUInt16LE(at + 4)];
      if (stream !== undefined)
        records.push({ ...stream, bytes: bytes.subarray(at + RECORD_HEAD_BYTES, end) });
      at = end;
    }
  }
  return { sequence, atMs, records };
}

/** Whether the batch, of which at least head and index are here, holds anything wanted. */
export function holdsWanted(bytes: Buffer, wanted: RecordFilter): boolean {
  return readIndex(bytes, wanted).some((each) => each !== undefined);
}

/** How many bytes head and index have. */
export function headLength(bytes: Buffer): number {
  return BATCH_HEAD_BYTES + bytes.readUInt32LE(12);
}

/** The streams of the index in order; undefined for those that are not wanted. */
function readIndex(bytes: Buffer, wanted: RecordFilter): (Omit<JournalRecord, "bytes"> | undefined)[] {
  const streams: (Omit<JournalRecord, "bytes"> | undefined)[] = [];
  let at = BATCH_HEAD_BYTES;
  for (let left = bytes.readUInt16LE(6); left > 0; left -= 1) {
    const end = at + 2 + bytes.readUInt16LE(at);
    const stream = bytes.toString("utf8", at + 2, end);
    const epoch = { era: readNumber(bytes, end), revision: readNumber(bytes, end + 8) };
    streams.push(wanted(stream, epoch) ? { stream, epoch } : undefined);
    at = end + 24;
  }
  return streams;
}
