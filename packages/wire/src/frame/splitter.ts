import { MalformedFrame } from "../errors.ts";
import { LENGTH_BYTES } from "./codec.ts";

/**
 * Cuts what a socket delivers into frames. A frame that lies whole inside one chunk is read where it lies; one that spans chunks is
 * gathered in a buffer that grows with what has arrived, never with what was announced.
 */
export type FrameReader = (bytes: Buffer, start: number, end: number) => void;

const FIRST_BYTES = 4_096;

export class FrameSplitter {
  /** Lowered for the hello: a stranger may not make us gather more. */
  bytesMax: number;
  #partial: Buffer | undefined;
  #have = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Calls `read` for each frame that is complete. Throws MalformedFrame for one that announces too much. */
  push(chunk: Buffer, read: FrameReader): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#have > 0) {
        at = this.#gather(chunk, at, read);
        continue;
      }
      const bodyAt = at + LENGTH_BYTES;
      const end = bodyAt <= chunk.length ? bodyAt + this.#checked(chunk.readUInt32BE(at)) : Infinity;
      if (end > chunk.length) {
        this.#append(chunk, at, chunk.length);
        return;
      }
      at = end;
      read(chunk, bodyAt, end);
    }
  }

  /** Moves bytes of the chunk into the frame that is being gathered; returns where the rest begins. */
  #gather(chunk: Buffer, from: number, read: FrameReader): number {
    let at = from;
    if (this.#have < LENGTH_BYTES) {
      const upTo = Math.min(chunk.length, at + LENGTH_BYTES - this.#have);
      this.#append(chunk, at, upTo);
      at = upTo;
      if (this.#have < LENGTH_BYTES) return at;
    }
    const whole = LENGTH_BYTES + this.#checked((this.#partial as Buffer).readUInt32BE(0));
    const upTo = Math.min(chunk.length, at + whole - this.#have);
    this.#append(chunk, at, upTo);
    if (this.#have === whole) {
      const frame = this.#partial as Buffer;
      this.#partial = undefined;
      this.#have = 0;
      read(frame, LENGTH_BYTES, whole);
    }
    return upTo;
  }

  #append(chunk: Buffer, from: number, to: number): void {
    const need = this.#have + to - from;
    if (this.#partial === undefined || this.#partial.length < need) {
      const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, need, 2 * this.#have));
      this.#partial?.copy(grown, 0, 0, this.#have);
      this.#partial = grown;
    }
    chunk.copy(this.#partial, this.#have, from, to);
    this.#have = need;
  }

  #checked(length: number): number {
    if (length > this.bytesMax) {
      throw new MalformedFrame(
        `a frame announces ${length} bytes, more than the ${this.bytesMax} that are allowed`,
      );
    }
    return length;
  }
}
