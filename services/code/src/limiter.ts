/** Lets so many pieces of work run at once; others wait their turn, in order. Who no longer wants it leaves the line at once. */
export class Limiter {
  readonly #max: number;
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(max: number) {
    this.#max = max;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Rejects with the signal's reason when that comes while it waits; work that has begun ends as it does. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running >= this.#max) await this.#turn(signal);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** The same for work that is no one function: resolves with what ends it, to be called once. */
  async enter(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#running >= this.#max) await this.#turn(signal);
    else this.#running++;
    return () => this.#leave();
  }

  /** The place goes to the next in line, or is free. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#running--;
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(begin);
        signal?.removeEventListener("abort", cancel);
      };
      const begin = (): void => {
        leave();
        resolve();
      };
      const cancel = (): void => {
        leave();
        reject(signal?.reason instanceof Error ? signal.reason : new Error("no longer wanted"));
      };
      this.#waiting.add(begin);
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }
}
