import type { BalancedInput, BalancedMember } from "./input.ts";

/**
 * Loads as the search counts them, and the averages that utilisation is measured against.
 *
 * `needs` are the loads themselves, with the mean in place of what was not measured; hard capacities are checked against them. `weights` are at
 * least a thousandth of the mean, so that idle replicas count for something and do not all end on the node that happens to be the least used.
 */
export interface Weights {
  readonly needs: Float64Array;
  readonly weights: Float64Array;
}

const idleShare = 0.001;

export function weigh(loads: ArrayLike<number>, dimensions: number): Weights {
  const needs = Float64Array.from(loads);
  const weights = new Float64Array(needs.length);
  for (let d = 0; d < dimensions; d++) {
    let sum = 0;
    let measured = 0;
    for (let i = d; i < needs.length; i += dimensions) {
      const load = needs[i]!;
      if (Number.isNaN(load)) continue;
      sum += load;
      measured += 1;
    }
    const mean = measured === 0 ? 0 : sum / measured;
    const idle = mean > 0 ? mean * idleShare : 1;
    for (let i = d; i < needs.length; i += dimensions) {
      if (Number.isNaN(needs[i])) needs[i] = mean;
      weights[i] = Math.max(needs[i]!, idle);
    }
  }
  return { needs, weights };
}

/** For one dimension: load per capacity over the open members, and the indices of replicas that are too heavy for the band on any of them. */
export interface Average {
  readonly value: number;
  readonly heavy: readonly number[];
}

/**
 * A replica that alone is above the ceiling on the largest member can be on no node within the band. It and a member to carry it are left
 * out of the average: the rest of the fleet is balanced among itself, not measured by what cannot be helped. When nothing would be left, all count.
 */
export function average(
  input: BalancedInput,
  open: readonly BalancedMember[],
  weights: Float64Array,
  dimension: number,
): Average {
  const dimensions = input.dimensions.length;
  const capacities = open.map((member) => member.capacity[dimension]!).sort((a, b) => b - a);
  let total = 0;
  for (let i = dimension; i < weights.length; i += dimensions) total += weights[i]!;
  const capacity = capacities.reduce((sum, value) => sum + value, 0);
  const largest = (capacities[0] ?? 0) * (1 + input.limits.ceilingShare);
  let found: Average = { value: total > 0 && capacity > 0 ? total / capacity : 1, heavy: [] };
  for (;;) {
    const heavy: number[] = [];
    let heavyLoad = 0;
    for (let i = dimension; i < weights.length; i += dimensions) {
      if (weights[i]! <= largest * found.value) continue;
      heavy.push((i - dimension) / dimensions);
      heavyLoad += weights[i]!;
    }
    const all = heavy.length * dimensions === weights.length || heavy.length >= open.length;
    if (all || heavy.length === found.heavy.length) return { ...found, heavy };
    const carriers = capacities.slice(0, heavy.length).reduce((sum, value) => sum + value, 0);
    // Without the heavy replicas the average only falls, so this ends: the list only grows, and has no more entries than there are members.
    found = { value: (total - heavyLoad) / (capacity - carriers), heavy };
  }
}
