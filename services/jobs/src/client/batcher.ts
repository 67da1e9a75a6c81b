/** Batches whose items each have a promise. */
import { Batches, type BatchOptions } from "./batches.ts";

interface Waiting<In, Out> {
  readonly item: In;
  readonly bytes: number;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

export class Batcher<In, Out> {
  readonly #batches: Batches<Waiting<In, Out>, Out>;

  /** `send` answers in the order of its items, and rejects for all of them. */
  constructor(send: (items: readonly In[]) => Promise<readonly Out[]>, options: Partial<BatchOptions> = {}) {
    this.#batches = new Batches(
      {
        send: (batch) => send(batch.map(({ item }) => item)),
        bytesOf: ({ bytes }) => bytes,
        done: ({ resolve }, out) => resolve(out),
        failed: ({ reject }, error) => reject(error),
      },
      options,
    );
  }

  add(item: In, bytes: number): Promise<Out> {
    return new Promise((resolve, reject) => this.#batches.push({ item, bytes, resolve, reject }));
  }
}
