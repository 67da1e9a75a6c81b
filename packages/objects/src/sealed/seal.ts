/** Puts seals on: on bytes that are all there, or on bytes that come in pieces. The layout is in `layout.ts`. */
import { BLOCK_BYTES, DATA_BYTES, SEAL_BYTES, storedBytes, writeSeal } from "./layout.ts";

/** A new buffer with the bytes as they are stored. */
export function seal(bytes: Uint8Array): Buffer {
  const stored = Buffer.allocUnsafe(storedBytes(bytes.length));
  let number = 0;
  let at = 0;
  let from = 0;
  do {
    const length = Math.min(DATA_BYTES, bytes.length - from);
    stored.set(bytes.subarray(from, from + length), at);
    from += length;
    writeSeal(stored, at, at + length, number, from === bytes.length);
    at += length + SEAL_BYTES;
    number += 1;
  } while (from < bytes.length);
  return stored;
}

/**
 * Seals bytes that come in pieces, into parts of a fixed stored size. It holds one part. A full part is given out only once more bytes come, because
 * the last block is sealed differently. The caller takes over the buffers it is given.
 */
export class Sealer {
  readonly #partBytes: number;
  #part: Buffer;
  /** Where the next byte goes. */
  #at = 0;
  /** Where the block under way begins. */
  #blockAt = 0;
  #number = 0;
  /** Bytes taken in so far. */
  sizeBytes = 0;

  /** `partBytes` is a whole number of blocks. */
  constructor(partBytes: number) {
    this.#partBytes = partBytes;
    this.#part = Buffer.allocUnsafe(partBytes);
  }

  /** Takes bytes in; yields each part that they fill. */
  *add(bytes: Uint8Array): Generator<Buffer> {
    let from = 0;
    while (from < bytes.length) {
      if (this.#at === this.#blockAt + DATA_BYTES) {
        this.#sealBlock(false);
        if (this.#at === this.#partBytes) yield this.#takePart();
      }
      const length = Math.min(this.#blockAt + DATA_BYTES - this.#at, bytes.length - from);
      this.#part.set(bytes.subarray(from, from + length), this.#at);
      this.#at += length;
      from += length;
      this.sizeBytes += length;
    }
  }

  /** The last part: all that was not yet given out. */
  end(): Buffer {
    this.#sealBlock(true);
    return this.#part.subarray(0, this.#at);
  }

  #sealBlock(last: boolean): void {
    writeSeal(this.#part, this.#blockAt, this.#at, this.#number, last);
    this.#at += SEAL_BYTES;
    this.#blockAt += BLOCK_BYTES;
    this.#number += 1;
  }

  #takePart(): Buffer {
    const part = this.#part;
    this.#part = Buffer.allocUnsafe(this.#partBytes);
    this.#at = 0;
    this.#blockAt = 0;
    return part;
  }
}
