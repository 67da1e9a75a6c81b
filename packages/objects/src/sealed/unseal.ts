/** Takes seals off again, verifying each. What does not verify is never given out. The layout is in `layout.ts`. */
import { corrupt } from "../errors.ts";
import { BLOCK_BYTES, DATA_BYTES, SEAL_BYTES, blocksOf, checkSeal, sizeOf } from "./layout.ts";

/** Which stored bytes hold a range of an object. */
export interface StoredRange {
  /** The first block's number. */
  readonly block: number;
  readonly from: number;
  /** Exclusive. It may lie behind the end of what is stored. */
  readonly to: number;
}

export function storedRange(offset: number, lengthBytes: number): StoredRange {
  const block = Math.floor(offset / DATA_BYTES);
  return {
    block,
    from: block * BLOCK_BYTES,
    to: (Math.floor((offset + Math.max(1, lengthBytes) - 1) / DATA_BYTES) + 1) * BLOCK_BYTES,
  };
}

/** The object's size, from its stored size. `name` is for messages. */
export function requireSize(stored: number, name: string): number {
  const sizeBytes = sizeOf(stored);
  if (sizeBytes === undefined) throw corrupt(`${name} is damaged: no object is stored in ${stored} bytes`);
  return sizeBytes;
}

/** The bytes of a whole object. They lie in `stored`, which is rewritten. */
export function unseal(stored: Buffer, name: string): Buffer {
  return unsealBlocks(stored, 0, requireSize(stored.length, name), name);
}

/** The bytes of a range, of which `stored` has exactly the stored range, cut at the end of the object. */
export function unsealRange(
  stored: Buffer,
  range: StoredRange,
  offset: number,
  lengthBytes: number,
  sizeBytes: number,
  name: string,
): Buffer {
  if (offset >= sizeBytes || lengthBytes === 0) return Buffer.alloc(0);
  const bytes = unsealBlocks(stored, range.block, sizeBytes, name);
  const start = offset - range.block * DATA_BYTES;
  return bytes.subarray(start, Math.min(start + lengthBytes, sizeBytes - range.block * DATA_BYTES));
}

/** Verifies every block and moves the bytes together, over the seals. */
function unsealBlocks(stored: Buffer, firstBlock: number, sizeBytes: number, name: string): Buffer {
  const lastBlock = blocksOf(sizeBytes) - 1;
  let length = 0;
  let number = firstBlock;
  for (let start = 0; start < stored.length; start += BLOCK_BYTES) {
    const end = Math.min(start + BLOCK_BYTES, stored.length);
    if (end - start < SEAL_BYTES) throw corrupt(`${name} is damaged: block ${number} has no seal`);
    checkSeal(stored, start, end, number, number === lastBlock, name);
    if (start > 0) stored.copyWithin(length, start, end - SEAL_BYTES);
    length += end - start - SEAL_BYTES;
    number += 1;
  }
  return stored.subarray(0, length);
}
