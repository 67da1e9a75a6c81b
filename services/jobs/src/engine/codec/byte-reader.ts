/** The inverse of ByteWriter. What does not add up is a damaged record, which is a bug or a broken disk, so it throws. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;

  /** Of the bytes from `start` up to `end`. */
  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#at = start;
    this.#end = end;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  byte(): number {
    if (this.#at >= this.#end) throw new RangeError("a record of the job queue ends too early");
    return this.#bytes[this.#at++] as number;
  }

  whole(): number {
    let value = 0;
    let unit = 1;
    for (;;) {
      const byte = this.byte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
      unit *= 128;
      if (unit > 2 ** 53) throw new RangeError("a number in a record of the job queue is too large");
    }
  }

  optional(): number | undefined {
    const value = this.whole();
    return value === 0 ? undefined : value - 1;
  }

  double(): number {
    const at = this.#take(8);
    return this.#bytes.readDoubleLE(at);
  }

  text(): string {
    const length = this.whole();
    const at = this.#take(length);
    return this.#bytes.toString("utf8", at, at + length);
  }

  /** The same; `known` itself when it is that, which is sooner seen than made. Equal texts often follow each other. */
  textLike(known: string): string {
    const start = this.#at;
    const length = this.whole();
    const at = this.#at;
    if (length === known.length && at + length <= this.#end && this.#isAscii(known, at)) {
      this.#at = at + length;
      return known;
    }
    this.#at = start;
    return this.text();
  }

  /** A reader of the next bytes alone, whose number comes first. */
  part(): ByteReader {
    const length = this.whole();
    const at = this.#take(length);
    return new ByteReader(this.#bytes, at, at + length);
  }

  /** The next bytes, whose number comes first, where they lie. */
  block(): Buffer {
    const length = this.whole();
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  binary(): string {
    const length = this.whole();
    const at = this.#take(length);
    // What a handler returned is one byte as a rule, and for those there are strings already.
    if (length === 1) return String.fromCharCode(this.#bytes[at] as number);
    return this.#bytes.toString("latin1", at, at + length);
  }

  /** All that is left, where it lies. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#take(this.#end - this.#at), this.#end);
  }

  #isAscii(text: string, at: number): boolean {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f || code !== this.#bytes[at + i]) return false;
    }
    return true;
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#end) throw new RangeError("a record of the job queue ends too early");
    this.#at = at + length;
    return at;
  }
}

/** Bytes for people who keep them as a string of which each character stands for one byte. */
export function toBinary(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

export function fromBinary(text: string): Buffer {
  return Buffer.from(text, "latin1");
}
