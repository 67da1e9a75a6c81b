import type { EraSource, NextEra } from "@keelson/kernel";
import type { Network } from "./network.ts";
import type { SimProcess } from "./process.ts";
import { OBJECTS } from "./resource.ts";

/** The era numbers that were ever given out, kept where objects live: no loss of the store takes one back. */
export class EraNumbers {
  #last = 0;

  /** A number above `above` that nobody was given before. */
  take(above: number): number {
    this.#last = Math.max(this.#last, above) + 1;
    return this.#last;
  }
}

/** The era source of one process: a put-if-absent in objects, as far away as any other object. */
export class SimEraSource implements EraSource {
  readonly #process: SimProcess;
  readonly #network: Network;
  readonly #numbers: EraNumbers;

  constructor(process: SimProcess, network: Network, numbers: EraNumbers) {
    this.#process = process;
    this.#network = network;
    this.#numbers = numbers;
  }

  next(above: number): Promise<NextEra> {
    const { life } = this.#process;
    return new Promise((resolve) => {
      this.#process.send(() =>
        this.#network.sendReliably(this.#process.name, OBJECTS, () => {
          const era = this.#numbers.take(above);
          this.#network.sendReliablyInto(OBJECTS, this.#process, life, () => resolve({ era, fresh: false }));
        }),
      );
    });
  }
}
