/**
 * The first 64 bytes of every segment, fence and cut: what it is, whose, and under which epoch. A segment is a file with many batches, or an object with one.
 *
 *    0  u32  magic "KJSG"          24  u64  epoch: era
 *    4  u8   version (1)           32  u64  epoch: revision
 *    5  u8   kind                  40  16 bytes  the writer: drawn when it opened the journal
 *    6  u16  0                     56  u32  further
 *    8  u64  sequence              60  u32  CRC-32 of the 60 bytes before
 *   16  u64  opening
 *
 * `sequence` is that of the first batch (segment), the number of the fence (fence file), or the first batch that does not count any more (cut). `opening` is the
 * sequence of the opening segment (object) or the number of the opening fence (file) of the writer; in an opening segment it is the first sequence whose fences
 * the opening does not repeat. `further` is how many of the following sequences belong to the same opening or fence (objects only).
 */
import { crc32 } from "node:zlib";
import type { Epoch } from "@keelson/kernel";
import { JournalError } from "../errors.ts";
import { readNumber, writeNumber } from "./numbers.ts";

export const HEADER_BYTES = 64;
export const WRITER_BYTES = 16;

const MAGIC = 0x47534a4b;
const VERSION = 1;
const KINDS = { data: 1, opening: 2, fence: 3, cut: 4 } as const;

type SegmentKind = keyof typeof KINDS;

export interface SegmentHeader {
  readonly kind: SegmentKind;
  readonly sequence: number;
  readonly opening: number;
  readonly epoch: Epoch;
  readonly writer: Buffer;
  readonly further: number;
}

export function encodeHeader({ kind, sequence, opening, epoch, writer, further }: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt32LE(MAGIC, 0);
  bytes[4] = VERSION;
  bytes[5] = KINDS[kind];
  writeNumber(bytes, sequence, 8);
  writeNumber(bytes, opening, 16);
  writeNumber(bytes, epoch.era, 24);
  writeNumber(bytes, epoch.revision, 32);
  writer.copy(bytes, 40, 0, WRITER_BYTES);
  bytes.writeUInt32LE(further, 56);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 60)), 60);
  return bytes;
}

/** Undefined for bytes that are no header, or a torn one. Throws for one of a later version. */
export function decodeHeader(bytes: Buffer, name: string): SegmentHeader | undefined {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32LE(0) !== MAGIC) return undefined;
  if (bytes.readUInt32LE(60) !== crc32(bytes.subarray(0, 60))) return undefined;
  if (bytes[4] !== VERSION)
    throw new JournalError(
      "JOURNAL_REJECTED",
      `${name} has format ${bytes[4]}, which this version does not know`,
    );
  const kind = (Object.keys(KINDS) as SegmentKind[]).find((each) => KINDS[each] === bytes[5]);
  if (kind === undefined) throw new JournalError("JOURNAL_CORRUPT", `${name} is of no known kind`);
  return {
    kind,
    sequence: readNumber(bytes, 8),
    opening: readNumber(bytes, 16),
    epoch: { era: readNumber(bytes, 24), revision: readNumber(bytes, 32) },
    writer: Buffer.from(bytes.subarray(40, 40 + WRITER_BYTES)),
    further: bytes.readUInt32LE(56),
  };
}
