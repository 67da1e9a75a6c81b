/**
 * A segment as bytes: up to 4096 blocks of text with everything needed to search it. All offsets count from the segment's own start, so it can be moved, sent and
 * stored as it is. The text is every document's content, each followed by a zero byte, then, from a new block on, every path, each followed by a zero byte.
 * No content holds a zero byte: such files are indexed by path alone.
 */

export const SEGMENT_MAGIC = 0x3247_534b;
export const HEADER_BYTES = 256;
export const BLOCKS_MAX = 4096;
/** Blocks of 8 KiB: half as many postings as with 4 KiB, and looking through one takes a microsecond. */
export const BLOCK_SHIFT_MIN = 13;
/** A literal of up to 64 bytes is whole in the block that it starts in. */
export const OVERLAP_BYTES = 61;
export const BITMAP_BYTES = BLOCKS_MAX / 8;
export const DIRECTORY_BYTES = 4096 * 12;
export const DOCUMENT_BYTES = 24;
export const CHECKED_FROM = 16;

/** Index of each u32 of the header. */
export const header = {
  magic: 0,
  totalBytes: 1,
  checksumLow: 2,
  checksumHigh: 3,
  blockShift: 4,
  blocks: 5,
  documents: 6,
  textOffset: 7,
  namesStart: 8,
  textBytes: 9,
  documentsOffset: 10,
  oidsOffset: 11,
  oidBytes: 12,
  joinedOffset: 13,
  /** Blocks with a character that ASCII letters fold to (the Kelvin sign, the long s); 0 when there is none. */
  foldingOffset: 14,
  directoryOffset: 15,
  dataOffset: 16,
  languagesOffset: 17,
  languagesBytes: 18,
  sourceBytesLow: 19,
  lines: 20,
  /** Blocks without a line break. */
  unbrokenOffset: 21,
  /** How many line breaks lie before each block. */
  linesBeforeOffset: 22,
} as const;

/** Index of each u32 of a document's record. */
export const record = { start: 0, bytes: 1, nameStart: 2, nameBytes: 3, lines: 4, traits: 5 } as const;

export const categories = ["ordinary", "test", "vendored", "generated", "skipped"] as const;
export const skipReasons = [undefined, "binary", "too-large", "left-out"] as const;

export function align(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}
