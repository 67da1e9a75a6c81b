import type { Socket } from "node:net";

/**
 * Gathers the frames of one turn of the event loop into one write: a system call costs more than everything else about a small frame.
 * Not a queue with a bound; whoever pushes looks at `queuedBytes` first.
 */

/** Up to this much is copied together; beyond it, copying costs more than a vectored write. */
const COPY_BYTES_MAX = 128 * 1024;
/** Enough for a good write: no use in waiting for more. */
const FLUSH_BYTES = 256 * 1024;

export class Outbox {
  readonly #socket: Socket;
  #frames: Buffer[] = [];
  #bytes = 0;
  #scheduled = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Bytes that the kernel of the machine has not taken yet. */
  get queuedBytes(): number {
    return this.#bytes + this.#socket.writableLength;
  }

  push(frame: Buffer): void {
    this.#frames.push(frame);
    this.#bytes += frame.length;
    if (this.#bytes >= FLUSH_BYTES) this.flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(this.#flushLater);
    }
  }

  readonly #flushLater = (): void => {
    this.#scheduled = false;
    this.flush();
  };

  flush(): void {
    const frames = this.#frames;
    if (frames.length === 0) return;
    const bytes = this.#bytes;
    this.#frames = [];
    this.#bytes = 0;
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    if (frames.length === 1) this.#socket.write(frames[0] as Buffer);
    else if (bytes <= COPY_BYTES_MAX) this.#socket.write(Buffer.concat(frames, bytes));
    else {
      this.#socket.cork();
      for (const frame of frames) this.#socket.write(frame);
      this.#socket.uncork();
    }
  }
}
