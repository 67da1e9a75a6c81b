/** Reads protobuf's wire format: tags, varints, lengths. Knows no messages. Whatever does not add up is a ProtobufError, never a wrong value. */

export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
  readonly code = "BAD_PROTOBUF";
}

export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** A byte order mark is a character like any other. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export class ProtobufReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** As unsigned 64 bits. */
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new ProtobufError("the message ends within a number");
      this.#at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError("a number is longer than ten bytes");
  }

  /** A small unsigned number: tags and lengths. */
  small(): number {
    const first = this.#bytes[this.#at];
    if (first !== undefined && first < 0x80) {
      this.#at += 1;
      return first;
    }
    const value = this.varint();
    if (value > 0xffff_ffffn) throw new ProtobufError("a tag or length is too large");
    return Number(value);
  }

  double(): number {
    return this.#take(8).readDoubleLE(0);
  }

  /** A view, not a copy. */
  bytes(): Buffer {
    return this.#take(this.small());
  }

  text(): string {
    try {
      return utf8.decode(this.bytes());
    } catch (error) {
      if (error instanceof ProtobufError) throw error;
      throw new ProtobufError("a text is not UTF-8");
    }
  }

  skip(wire: number): void {
    if (wire === WIRE.varint) this.varint();
    else if (wire === WIRE.fixed64) this.#take(8);
    else if (wire === WIRE.bytes) this.bytes();
    else if (wire === WIRE.fixed32) this.#take(4);
    else throw new ProtobufError(`there is no wire type ${wire}`);
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new ProtobufError("a field is longer than the message");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
