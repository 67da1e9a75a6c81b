/**
 * As much of the protobuf encoding as etcd's messages need: varints, length-delimited fields, nested messages. 64-bit ids are hexadecimal text here, as
 * `etcdctl` prints them; revisions are numbers. Unknown fields are skipped. It knows no message.
 */

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

const SCRATCH_BYTES = 64 * 1024;

/** Builds one message. `finish` hands it out; the writer is then free for the next one. */
export class ProtoWriter {
  #buffer = Buffer.allocUnsafe(SCRATCH_BYTES);
  #at = 0;

  /** A number up to 2^53, a boolean or an enum; protobuf leaves zero out, unless it is part of a choice. */
  number(field: number, value: number): void {
    if (value !== 0) this.chosenNumber(field, value);
  }

  /** A field of a choice (`oneof`): also a zero says which one was chosen. */
  chosenNumber(field: number, value: number): void {
    this.#reserve(20);
    this.#varint((field << 3) | VARINT);
    this.#varint(value);
  }

  bool(field: number, value: boolean): void {
    this.number(field, value ? 1 : 0);
  }

  /** A 64-bit id that is written as up to 16 hexadecimal digits. */
  id(field: number, hex: string): void {
    const high = hex.length > 8 ? Number.parseInt(hex.slice(0, -8), 16) : 0;
    const low = Number.parseInt(hex.slice(-8), 16);
    if (high === 0 && low === 0) return;
    this.#reserve(20);
    this.#varint((field << 3) | VARINT);
    this.#varint64(high, low);
  }

  text(field: number, value: string): void {
    if (value === "") return;
    this.#reserve(20 + value.length * 3);
    this.#varint((field << 3) | BYTES);
    const length = Buffer.byteLength(value);
    this.#varint(length);
    this.#at += this.#buffer.write(value, this.#at, length, "utf8");
  }

  bytes(field: number, value: Buffer): void {
    if (value.length === 0) return;
    this.#reserve(20 + value.length);
    this.#varint((field << 3) | BYTES);
    this.#varint(value.length);
    this.#at += value.copy(this.#buffer, this.#at);
  }

  message(field: number, write: () => void): void {
    this.#reserve(20);
    this.#varint((field << 3) | BYTES);
    const start = (this.#at += 1);
    write();
    const length = this.#at - start;
    // Most messages are short, so one byte was kept for the length; a longer one moves.
    const more = varintBytes(length) - 1;
    if (more > 0) {
      this.#reserve(more);
      this.#buffer.copyWithin(start + more, start, this.#at);
    }
    this.#at = start - 1;
    this.#varint(length);
    this.#at += length;
  }

  finish(): Buffer {
    const message = Buffer.from(this.#buffer.subarray(0, this.#at));
    this.#at = 0;
    if (this.#buffer.length > SCRATCH_BYTES) this.#buffer = Buffer.allocUnsafe(SCRATCH_BYTES);
    return message;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }

  #varint(value: number): void {
    while (value > 0x7f) {
      this.#buffer[this.#at++] = (value % 0x80) | 0x80;
      value = Math.floor(value / 0x80);
    }
    this.#buffer[this.#at++] = value;
  }

  #varint64(high: number, low: number): void {
    while (high > 0) {
      this.#buffer[this.#at++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    this.#varint(low);
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}

class ProtoError extends Error {
  override readonly name = "ProtoError";
}

/** Reads one message: `next` moves to a field, and exactly one of the others takes or skips it. */
export class ProtoReader {
  readonly #buffer: Buffer;
  #at = 0;
  #end: number;
  #wire = VARINT;
  /** The halves of the last varint. */
  #high = 0;
  #low = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
    this.#end = buffer.length;
  }

  /** The number of the next field, or 0 at the end of the message. */
  next(): number {
    if (this.#at >= this.#end) return 0;
    this.#varint();
    this.#wire = this.#low & 7;
    return this.#low >>> 3;
  }

  /** Exact up to 2^53, which no revision reaches. Negative numbers (a TTL of −1, a watch id of −1) come back as such. */
  number(): number {
    this.#expect(VARINT);
    this.#varint();
    return (this.#high | 0) * 0x1_0000_0000 + this.#low;
  }

  bool(): boolean {
    return this.number() !== 0;
  }

  /** A 64-bit id as 16 hexadecimal digits. */
  id(): string {
    this.#expect(VARINT);
    this.#varint();
    return hex32(this.#high) + hex32(this.#low);
  }

  text(): string {
    const start = this.#span();
    return this.#buffer.toString("utf8", start, this.#at);
  }

  /** Reads a nested message: `read` takes every field of it from this reader. */
  message<T>(read: (reader: ProtoReader) => T): T {
    const start = this.#span();
    const [end, after] = [this.#end, this.#at];
    this.#at = start;
    this.#end = after;
    const value = read(this);
    this.#at = after;
    this.#end = end;
    return value;
  }

  skip(): void {
    if (this.#wire === VARINT) this.#varint();
    else if (this.#wire === BYTES) this.#span();
    else if (this.#wire === FIXED64) this.#move(8);
    else if (this.#wire === FIXED32) this.#move(4);
    else throw new ProtoError(`wire type ${this.#wire} at byte ${this.#at}`);
  }

  /** Moves past a length-delimited field and gives where its contents begin. */
  #span(): number {
    this.#expect(BYTES);
    this.#varint();
    const start = this.#at;
    this.#move(this.#high * 0x1_0000_0000 + this.#low);
    return start;
  }

  #move(bytes: number): void {
    this.#at += bytes;
    if (this.#at > this.#end)
      throw new ProtoError(`a field ends ${this.#at - this.#end} bytes past its message`);
  }

  #expect(wire: number): void {
    if (this.#wire !== wire) throw new ProtoError(`wire type ${this.#wire} where ${wire} belongs`);
  }

  #varint(): void {
    let high = 0;
    let low = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at >= this.#end) throw new ProtoError("a number is cut short");
      const byte = this.#buffer[this.#at++] as number;
      if (shift < 28) low |= (byte & 0x7f) << shift;
      else if (shift === 28) {
        low |= (byte & 0x0f) << 28;
        high = (byte & 0x7f) >> 4;
      } else if (shift < 63) high |= (byte & 0x7f) << (shift - 32);
      else high |= byte << 31;
      if (byte < 0x80) {
        this.#high = high >>> 0;
        this.#low = low >>> 0;
        return;
      }
    }
    throw new ProtoError("a number has more than 64 bits");
  }
}

function hex32(value: number): string {
  return value.toString(16).padStart(8, "0");
}
