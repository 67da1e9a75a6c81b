/** Writes protobuf's wire format. */
export class ProtobufWriter {
  readonly #parts: Uint8Array[] = [];

  tag(field: number, wire: number): void {
    this.varint(BigInt((field << 3) | wire));
  }

  /** Negative numbers take ten bytes, as the format has it. */
  varint(value: bigint): void {
    let left = BigInt.asUintN(64, value);
    const bytes: number[] = [];
    while (left > 0x7fn) {
      bytes.push(Number(left & 0x7fn) | 0x80);
      left >>= 7n;
    }
    bytes.push(Number(left));
    this.#parts.push(Uint8Array.from(bytes));
  }

  double(value: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#parts.push(bytes);
  }

  bytes(value: Uint8Array): void {
    this.varint(BigInt(value.length));
    this.#parts.push(value);
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
