/**
 * How an object's bytes lie in a file or an S3 object: blocks of 64 KiB, each the next 65,528 bytes of the object and an 8-byte seal; the last block is as
 * short as it needs to be, and an empty object is one seal. So a range can be read and verified without the rest, a stream can be sealed without
 * knowing its end, and a whole is told from a part.
 *
 * A seal is two little-endian u32: a tag (version << 28 | last << 27 | block number), and the CRC-32 of the block's bytes and the tag.
 */
import { crc32 } from "node:zlib";
import { ObjectError, corrupt } from "../errors.ts";

export const BLOCK_BYTES = 64 * 1024;
export const SEAL_BYTES = 8;
export const DATA_BYTES = BLOCK_BYTES - SEAL_BYTES;

const VERSION = 1;
const LAST = 1 << 27;
const NUMBER_MASK = LAST - 1;

/** The stored size of an object of so many bytes. */
export function storedBytes(sizeBytes: number): number {
  return sizeBytes + SEAL_BYTES * blocksOf(sizeBytes);
}

export function blocksOf(sizeBytes: number): number {
  return Math.max(1, Math.ceil(sizeBytes / DATA_BYTES));
}

/** The size of an object that is stored in so many bytes; undefined when no object is. */
export function sizeOf(stored: number): number | undefined {
  const blocks = Math.ceil(stored / BLOCK_BYTES);
  const sizeBytes = stored - blocks * SEAL_BYTES;
  return blocks > 0 && sizeBytes >= 0 && storedBytes(sizeBytes) === stored ? sizeBytes : undefined;
}

/** Writes the seal of the block that lies in `into` from `start` to `end`, behind it. */
export function writeSeal(into: Buffer, start: number, end: number, number: number, last: boolean): void {
  const tag = ((VERSION << 28) | (last ? LAST : 0) | number) >>> 0;
  into.writeUInt32LE(tag, end);
  into.writeUInt32LE(crc32(into.subarray(start, end + 4)), end + 4);
}

/** Throws OBJECT_CORRUPT unless the bytes from `start` to `end` are block `number`, sealed, and the last one exactly when they should be. */
export function checkSeal(
  stored: Buffer,
  start: number,
  end: number,
  number: number,
  last: boolean,
  name: string,
): void {
  const tagAt = end - SEAL_BYTES;
  const tag = stored.readUInt32LE(tagAt);
  if (stored.readUInt32LE(tagAt + 4) !== crc32(stored.subarray(start, tagAt + 4)))
    throw corrupt(`${name} is damaged: block ${number} does not match its checksum`);
  if (tag >>> 28 !== VERSION)
    throw new ObjectError(
      "OBJECT_REJECTED",
      `${name} has format ${tag >>> 28}, which this version does not know`,
    );
  if ((tag & NUMBER_MASK) !== number)
    throw corrupt(`${name} is damaged: block ${number} is block ${tag & NUMBER_MASK} of something`);
  if (((tag & LAST) !== 0) !== last)
    throw corrupt(`${name} is damaged: it ${last ? "was cut short" : "goes on"} after block ${number}`);
}
