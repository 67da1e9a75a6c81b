/** Bytes being put together: whole numbers as varints, strings as UTF-8, byte strings as they are. The buffer is used again; what is taken is a copy. */

const SHORT_CHARS = 96;

export class ByteWriter {
  #bytes: Buffer;
  #at = 0;

  constructor(capacityBytes = 4096) {
    this.#bytes = Buffer.allocUnsafeSlow(capacityBytes);
  }

  get length(): number {
    return this.#at;
  }

  clear(): void {
    this.#at = 0;
  }

  byte(value: number): void {
    if (this.#at >= this.#bytes.length) this.#grow(1);
    this.#bytes[this.#at++] = value;
  }

  /** A whole number from 0 to 2^53. */
  whole(value: number): void {
    if (this.#at + 8 > this.#bytes.length) this.#grow(8);
    const bytes = this.#bytes;
    let at = this.#at;
    while (value >= 0x8000_0000) {
      bytes[at++] = (value % 128) | 0x80;
      value = Math.floor(value / 128);
    }
    while (value >= 0x80) {
      bytes[at++] = (value & 0x7f) | 0x80;
      value >>>= 7;
    }
    bytes[at++] = value;
    this.#at = at;
  }

  /** A number that may not be there. */
  optional(value: number | undefined): void {
    this.whole(value === undefined ? 0 : value + 1);
  }

  double(value: number): void {
    if (this.#at + 8 > this.#bytes.length) this.#grow(8);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  text(value: string): void {
    if (value.length <= SHORT_CHARS && this.#shortAscii(value)) return;
    const length = Buffer.byteLength(value);
    this.whole(length);
    this.#grow(length);
    this.#at += this.#bytes.write(value, this.#at, length, "utf8");
  }

  /** A string of which each character stands for one byte. */
  binary(value: string): void {
    this.whole(value.length);
    this.rest(value);
  }

  /** The same without its length: the reader knows it. */
  rest(value: string): void {
    this.#grow(value.length);
    this.#at += this.#bytes.write(value, this.#at, value.length, "latin1");
  }

  bytes(value: Uint8Array): void {
    this.#grow(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** All that another writer holds, with its length in front: what `binary` would write of it. */
  block(from: ByteWriter): void {
    this.whole(from.#at);
    this.#grow(from.#at);
    this.#at += from.#bytes.copy(this.#bytes, this.#at, 0, from.#at);
  }

  /** A copy of what was written from `start` on. */
  copy(start = 0): Buffer {
    return Buffer.from(this.#bytes.subarray(start, this.#at));
  }

  /** What was written, as a string of which each character stands for one byte. */
  toBinary(start = 0): string {
    return this.#bytes.toString("latin1", start, this.#at);
  }

  #shortAscii(value: string): boolean {
    const { length } = value;
    if (this.#at + length + 1 > this.#bytes.length) this.#grow(length + 1);
    const bytes = this.#bytes;
    const at = this.#at + 1;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[at + i] = code;
    }
    bytes[at - 1] = length;
    this.#at = at + length;
    return true;
  }

  #grow(more: number): void {
    const needed = this.#at + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
