import type { Socket } from "node:net";
import { LARGE_FRAME_BYTES, takeBack } from "../frame/large-frames.ts";

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
  readonly #taken: () => void;
  #frames: Buffer[] = [];
  #bytes = 0;
  #scheduled = false;

  /** `taken` is called when the socket has taken what was written, whether at once or after a while. */
  constructor(socket: Socket, taken: () => void) {
    this.#socket = socket;
    this.#taken = taken;
    socket.on("drain", taken);
  }

  /** Bytes that the kernel of the machine has not taken yet. */
  get queuedBytes(): number {
    return this.#bytes + this.#socket.writableLength;
  }

  push(frame: Buffer): void {
    this.#frames.push(frame);
    this.#bytes += frame.length;
    if (!this.#scheduled) {
      this.#scheduled = true;
      process.nextTick(this.#flushLater);
    }
    if (this.#bytes >= FLUSH_BYTES) this.flush();
  }

  /** The one place that tells of bytes taken at once, so that whoever pushes is never called back inside its push. */
  readonly #flushLater = (): void => {
    this.#scheduled = false;
    this.flush();
    if (!this.#socket.writableNeedDrain) this.#taken();
  };

  flush(): void {
    const frames = this.#frames;
    if (frames.length === 0) return;
    const bytes = this.#bytes;
    this.#frames = [];
    this.#bytes = 0;
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    if (frames.length === 1) this.#write(frames[0] as Buffer);
    else if (bytes <= COPY_BYTES_MAX) this.#socket.write(Buffer.concat(frames, bytes));
    else {
      this.#socket.cork();
      for (const frame of frames) this.#write(frame);
      this.#socket.uncork();
    }
  }

  #write(frame: Buffer): void {
    if (frame.length < LARGE_FRAME_BYTES) this.#socket.write(frame);
    else
      this.#socket.write(frame, (error) => {
        // Of one that failed nobody can say whether the system still looks at it.
        if (!error) takeBack(frame);
      });
  }
}
