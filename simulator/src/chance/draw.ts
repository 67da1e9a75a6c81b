import type { Random } from "@keelson/kernel";

/** Ways to draw from a stream. Each takes exactly one number from it, so that a reader can count what a change shifts. */

/** A range to draw from, both ends possible. */
export type Range = readonly [low: number, high: number];

export function chance(random: Random, probability: number): boolean {
  return random() < probability;
}

export function uniform(random: Random, [low, high]: Range): number {
  return low + (high - low) * random();
}

/** Spread evenly over orders of magnitude: as many draws between 0.1 and 1 as between 1 and 10. Requires `low` above zero. */
export function magnitude(random: Random, [low, high]: Range): number {
  return low * (high / low) ** random();
}

/** An integer below `bound`. */
export function below(random: Random, bound: number): number {
  return Math.floor(random() * bound);
}

/** The wait until the next of events that come at random, `mean` apart on average. */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random());
}

/** One of the list. Requires at least one. */
export function pick<T>(random: Random, list: readonly T[]): T {
  const at = below(random, list.length);
  if (at >= list.length) throw new Error("cannot pick from an empty list");
  return list[at] as T;
}

/** One of the names, by weight. Requires a positive total. */
export function weighted<T extends string>(random: Random, weights: ReadonlyMap<T, number>): T {
  let total = 0;
  for (const weight of weights.values()) total += weight;
  let left = random() * total;
  let last: T | undefined;
  for (const [name, weight] of weights) {
    if (weight <= 0) continue;
    last = name;
    left -= weight;
    if (left < 0) return name;
  }
  if (last === undefined) throw new Error("cannot draw by weight when all weights are zero");
  return last;
}
