/**
 * Many small things on few calls: what is added while calls are under way leaves together in the next one. So one thing alone leaves at once, and a busy caller
 * sends large batches, with no timer and no setting to tune.
 */

export interface BatcherOptions {
  readonly itemsMax: number;
  readonly bytesMax: number;
  readonly inflightMax: number;
  /** More than this waiting is refused. */
  readonly waitingMax: number;
}

export const BATCHER_DEFAULTS: BatcherOptions = {
  itemsMax: 1_000,
  bytesMax: 512 * 1024,
  inflightMax: 2,
  waitingMax: 100_000,
};

interface Waiting<In, Out> {
  readonly item: In;
  readonly bytes: number;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

export class Batcher<In, Out> {
  readonly #options: BatcherOptions;
  readonly #send: (items: readonly In[]) => Promise<readonly Out[]>;
  #waiting: Waiting<In, Out>[] = [];
  #inflight = 0;
  #scheduled = false;

  /** `send` answers in the order of its items, and rejects for all of them. */
  constructor(
    send: (items: readonly In[]) => Promise<readonly Out[]>,
    options: Partial<BatcherOptions> = {},
  ) {
    this.#send = send;
    this.#options = { ...BATCHER_DEFAULTS, ...options };
  }

  /** Added, and not sent yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: In, bytes: number): Promise<Out> {
    return new Promise((resolve, reject) => this.push(item, bytes, resolve, reject));
  }

  /** The same without a promise. Neither is called before this returns, but `reject` when too many wait. */
  push(item: In, bytes: number, resolve: (out: Out) => void, reject: (error: unknown) => void): void {
    if (this.#waiting.length >= this.#options.waitingMax)
      return reject(
        Object.assign(new Error(`${this.#waiting.length} calls wait already`), { code: "OVERLOADED" }),
      );
    this.#waiting.push({ item, bytes, resolve, reject });
    this.#schedule();
  }

  /** In the next turn, so that what one turn adds leaves together. */
  #schedule(): void {
    if (this.#scheduled || this.#inflight >= this.#options.inflightMax) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#waiting.length > 0 && this.#inflight < this.#options.inflightMax) void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const batch = this.#take();
    this.#inflight += 1;
    try {
      const outs = await this.#send(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(outs[index] as Out);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#inflight -= 1;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }

  #take(): Waiting<In, Out>[] {
    const { itemsMax, bytesMax } = this.#options;
    let [count, bytes] = [0, 0];
    while (count < this.#waiting.length && count < itemsMax) {
      bytes += this.#waiting[count]!.bytes;
      if (count > 0 && bytes > bytesMax) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }
}
