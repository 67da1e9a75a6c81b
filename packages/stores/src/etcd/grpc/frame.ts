/** Messages on a gRPC stream: one byte that says whether it is compressed (ours never are), four bytes of length, the message. */

const HEAD_BYTES = 5;

/** A page of a thousand entries of 64 KiB, with room to spare. A watch may be told more at once: then it lists again. */
export const MESSAGE_BYTES_MAX = 96 * 1024 * 1024;

export function frame(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  message.copy(framed, HEAD_BYTES);
  return framed;
}

export class FrameError extends Error {
  override readonly name = "FrameError";
}

/** Cuts what arrives back into messages. */
export class FrameSplitter {
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** Calls `take` for each message that is complete now. Throws a FrameError when the stream makes no sense. */
  push(chunk: Buffer, take: (message: Buffer) => void): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes >= HEAD_BYTES) {
      const head = this.#peek(HEAD_BYTES);
      if (head[0] !== 0)
        throw new FrameError("a message is compressed, though we did not offer to read that");
      const length = head.readUInt32BE(1);
      if (length > MESSAGE_BYTES_MAX)
        throw new FrameError(`a message of ${length} bytes, more than ${MESSAGE_BYTES_MAX}`);
      if (this.#bytes < HEAD_BYTES + length) return;
      take(this.#take(HEAD_BYTES + length).subarray(HEAD_BYTES));
    }
  }

  #peek(bytes: number): Buffer {
    const first = this.#chunks[0] as Buffer;
    return first.length >= bytes ? first : this.#join();
  }

  #take(bytes: number): Buffer {
    const first = this.#chunks[0] as Buffer;
    const whole = first.length >= bytes ? first : this.#join();
    const rest = whole.subarray(bytes);
    if (rest.length > 0) this.#chunks[0] = rest;
    else this.#chunks.shift();
    this.#bytes -= bytes;
    return whole.subarray(0, bytes);
  }

  #join(): Buffer {
    const whole = Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [whole];
    return whole;
  }
}
