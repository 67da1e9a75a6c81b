/**
 * Many small things on few calls: what is added while calls are under way leaves together in the next one. So one thing alone leaves at once, and a busy caller
 * sends large batches, with no timer and no setting to tune. Things are told apart by their ports, not wrapped: there are very many of them.
 */

export interface BatchOptions {
  readonly itemsMax: number;
  readonly bytesMax: number;
  readonly inflightMax: number;
  /** More than this waiting is refused. */
  readonly waitingMax: number;
}

export const BATCH_DEFAULTS: BatchOptions = {
  itemsMax: 1_000,
  bytesMax: 512 * 1024,
  inflightMax: 2,
  waitingMax: 100_000,
};

interface BatchPorts<Item, Out> {
  /** Answers in the order of its items, and rejects for all of them. */
  send(items: readonly Item[]): Promise<readonly Out[]>;
  bytesOf(item: Item): number;
  /** One of the two is told of every item, once. */
  done(item: Item, out: Out): void;
  failed(item: Item, error: unknown): void;
}

export class Batches<Item, Out> {
  readonly #options: BatchOptions;
  readonly #ports: BatchPorts<Item, Out>;
  #waiting: Item[] = [];
  #inflight = 0;
  #scheduled = false;

  constructor(ports: BatchPorts<Item, Out>, options: Partial<BatchOptions> = {}) {
    this.#ports = ports;
    this.#options = { ...BATCH_DEFAULTS, ...options };
  }

  /** Added, and not sent yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Nothing is told before this returns, but `failed` when too many wait. */
  push(item: Item): void {
    if (this.#waiting.length >= this.#options.waitingMax)
      return this.#ports.failed(
        item,
        Object.assign(new Error(`${this.#waiting.length} calls wait already`), { code: "OVERLOADED" }),
      );
    this.#waiting.push(item);
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
      const outs = await this.#ports.send(batch);
      for (let index = 0; index < batch.length; index += 1)
        this.#ports.done(batch[index] as Item, outs[index] as Out);
    } catch (error) {
      for (const item of batch) this.#ports.failed(item, error);
    } finally {
      this.#inflight -= 1;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }

  #take(): Item[] {
    const { itemsMax, bytesMax } = this.#options;
    let [count, bytes] = [0, 0];
    while (count < this.#waiting.length && count < itemsMax) {
      bytes += this.#ports.bytesOf(this.#waiting[count] as Item);
      if (count > 0 && bytes > bytesMax) break;
      count += 1;
    }
    if (count < this.#waiting.length) return this.#waiting.splice(0, count);
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }
}
