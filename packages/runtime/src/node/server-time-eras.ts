import type { EraSource, NextEra } from "@keelson/kernel";

/**
 * Era numbers for fleets without objects: the store's clock in milliseconds, or one more than the greatest era that the store's record or this
 * node's memory knows, whichever is greater. A store that lost its record and whose clock went back, on a fleet none of whose nodes remembers,
 * could repeat a number; objects rule that out, this cannot.
 */
export class ServerTimeEras implements EraSource {
  readonly #fresh: boolean;

  /**
   * `fresh` is a promise by the caller that nobody can hold anything from before, so that the first era need not wait one TTL. Only a fleet
   * that lives in one process, store included, can make it; and it counts only for the very first era.
   */
  constructor(options: { readonly fresh?: boolean } = {}) {
    this.#fresh = options.fresh ?? false;
  }

  next(above: number, serverTimeMs: number): Promise<NextEra> {
    return Promise.resolve({
      era: Math.max(above + 1, Math.floor(serverTimeMs)),
      fresh: this.#fresh && above === 0,
    });
  }
}
