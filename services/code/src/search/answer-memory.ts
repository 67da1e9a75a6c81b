/**
 * The memory of answers that are being put together on a node, or wait to be read: together they hold at most so many bytes, as `bytesOfFile` counts them. What does not fit waits its
 * turn; whoever has waited as long as it may, or has left, goes without. Small answers wait for no large one, because part of the memory is for them alone.
 */
import type { Clock, Timer } from "@keelson/kernel";

/** Of the memory, for large answers; the rest is for small ones. */
const largeShare = 0.75;
/** Of the memory: what is below waits for no large one. */
const smallShare = 1 / 64;
/** A frame between nodes takes 16 MiB. */
const frameShareBytes = 8 << 20;
/** Buffers of large answers that are kept for the next. */
const sparesMax = 2;

/** What one answer holds. */
export interface HeldAnswer {
  /** It turned out to be as large as this. */
  resize(bytes: number): void;
  /** With its bytes, when nobody looks at them any more: the next large answer is written into them. */
  release(bytes?: Buffer): void;
}

interface Waiting {
  readonly bytes: number;
  readonly go: (held: HeldAnswer | undefined) => void;
}

export class AnswerMemory {
  readonly bytesMax: number;
  /** One answer, however much it is asked for: larger ones are cut, and say so. */
  readonly answerBytesMax: number;
  readonly #clock: Clock;
  /** In order, the small ones and the large ones. There are no more than requests that the node works on. */
  readonly #small = new Set<Waiting>();
  readonly #large = new Set<Waiting>();
  #heldBytes = 0;
  #largeBytes = 0;
  /** New memory for every large answer would be garbage by the ten megabytes before it is collected. */
  readonly #spares: Buffer[] = [];

  constructor(bytesMax: number, clock: Clock) {
    this.bytesMax = bytesMax;
    this.answerBytesMax = Math.min(frameShareBytes, Math.floor(bytesMax / 2));
    this.#clock = clock;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get waiting(): number {
    return this.#small.size + this.#large.size;
  }

  /** Memory for an answer of about this size. Large ones get as much as any of them may need: what is not written to costs nothing, and it does for whoever comes next. */
  buffer(bytes: number): Buffer {
    if (this.#isSmall(bytes)) return Buffer.allocUnsafeSlow(bytes);
    const at = this.#spares.findIndex((each) => each.length >= bytes);
    const [spare] = at < 0 ? [] : this.#spares.splice(at, 1);
    return spare ?? Buffer.allocUnsafeSlow(Math.max(bytes, this.answerBytesMax));
  }

  /** Undefined when there was no room in time. */
  async hold(bytes: number, waitMs: number, signal: AbortSignal): Promise<HeldAnswer | undefined> {
    const queue = this.#isSmall(bytes) ? this.#small : this.#large;
    if (queue.size === 0 && this.#fits(bytes)) return this.#take(bytes);
    if (waitMs <= 0 || signal.aborted) return undefined;
    let timer: Timer | undefined;
    let leave = (): void => undefined;
    try {
      return await new Promise<HeldAnswer | undefined>((go) => {
        const waiting: Waiting = { bytes, go };
        leave = () => {
          if (queue.delete(waiting)) go(undefined);
          // It may have kept others behind it waiting.
          this.#admit();
        };
        queue.add(waiting);
        timer = this.#clock.after(waitMs, leave);
        signal.addEventListener("abort", leave, { once: true });
      });
    } finally {
      timer?.cancel();
      signal.removeEventListener("abort", leave);
    }
  }

  #isSmall(bytes: number): boolean {
    return bytes <= this.bytesMax * smallShare;
  }

  #fits(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.bytesMax) return this.#heldBytes === 0;
    return (
      this.#isSmall(bytes) || this.#largeBytes === 0 || this.#largeBytes + bytes <= this.bytesMax * largeShare
    );
  }

  #take(bytes: number): HeldAnswer {
    const small = this.#isSmall(bytes);
    let held = 0;
    const resize = (to: number): void => {
      const more = to - held;
      held = to;
      this.#heldBytes += more;
      if (!small) this.#largeBytes += more;
      if (more < 0) this.#admit();
    };
    resize(bytes);
    return {
      resize,
      release: (buffer) => {
        const useful = buffer !== undefined && buffer.length >= this.answerBytesMax && held > 0;
        if (useful && this.#spares.length < sparesMax) this.#spares.push(buffer);
        resize(0);
      },
    };
  }

  #admit(): void {
    for (const queue of [this.#small, this.#large])
      for (const waiting of queue) {
        if (!this.#fits(waiting.bytes)) break;
        queue.delete(waiting);
        waiting.go(this.#take(waiting.bytes));
      }
  }
}
