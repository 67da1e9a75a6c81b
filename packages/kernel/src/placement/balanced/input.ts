import { type BalancedLimits, limitsProblem } from "./limits.ts";

/**
 * Everything that the placement `balanced/1` looks at, as one value: nothing is read from the world. Replicas are named by index throughout,
 * `shard × replicas + replica`, because a plan of 100,000 of them is computed anew at every change.
 */
export interface BalancedInput {
  /** The number of the view that the members are from. It also breaks ties, so that equal nodes do not always come in the same order. */
  readonly viewN: number;
  /** At least one, at most {@link dimensionsMax}. */
  readonly dimensions: readonly Dimension[];
  /** In any order. A node that is not listed is lost: it holds nothing any more. */
  readonly members: readonly BalancedMember[];
  /** Ids, in the order of the service's parameters. */
  readonly shards: readonly string[];
  readonly replicas: number;
  /** Measured and smoothed, `loads[index × dimensions + dimension]`. NaN: not measured yet, which counts as an average replica. */
  readonly loads: ArrayLike<number>;
  /** Who holds each replica now, by index. */
  readonly holders: readonly (string | undefined)[];
  /** Where the last plan wanted each replica, by index. Where it differs from the holder, a move is under way. */
  readonly targets: readonly (string | undefined)[];
  readonly pins: readonly Pin[];
  /** What a move of each replica costs, by index: bytes to copy, say. Each costs 1 when left out. */
  readonly costs?: ArrayLike<number>;
  /** Nodes to be preferred for a replica that has lost its node, by index: they have it prepared, or are first in line to take it over. */
  readonly preferred?: ReadonlyMap<number, readonly string[]>;
  readonly limits: BalancedLimits;
}

/** Something that replicas need and nodes have: memory, requests. */
export interface Dimension {
  readonly name: string;
  /** Capacity is in the unit of the load and is never exceeded. Otherwise only the members' capacities relative to each other count. */
  readonly hard: boolean;
}

export interface BalancedMember {
  readonly node: string;
  readonly zone: string;
  /** One number per dimension. A member with 0 in any of them gets nothing. */
  readonly capacity: readonly number[];
  /** Gets nothing, and keeps what it holds only until that could be moved. */
  readonly draining: boolean;
  /**
   * Has been restarted in the rolling restart that is under way, which is the case when some members have and some have not. See
   * {@link restartedNodes}.
   */
  readonly restarted: boolean;
}

/** An operator's word that a replica shall be on a node. Without `replica`: any one of the shard's replicas. */
export interface Pin {
  readonly shard: string;
  readonly replica?: number;
  readonly node: string;
}

export const dimensionsMax = 8;
export const replicasMax = 16;

/** Undefined when a plan can be computed from the input; otherwise what is wrong, as one sentence. */
export function inputProblem(input: BalancedInput): string | undefined {
  const { dimensions, members, shards, replicas, loads, holders, targets, costs } = input;
  const count = shards.length * replicas;
  if (!Number.isInteger(replicas) || replicas < 1 || replicas > replicasMax)
    return `replicas is ${replicas}: make it a whole number from 1 to ${replicasMax}`;
  if (dimensions.length < 1 || dimensions.length > dimensionsMax)
    return `there are ${dimensions.length} dimensions: make them 1 to ${dimensionsMax}`;
  const lengths = { holders: holders.length, targets: targets.length, costs: costs?.length ?? count };
  for (const [name, length] of Object.entries(lengths))
    if (length !== count) return `${name} has ${length} entries for ${count} replicas: give one for each`;
  if (loads.length !== count * dimensions.length)
    return `loads has ${loads.length} entries: give ${dimensions.length} for each of ${count} replicas`;
  return (
    membersProblem(members, dimensions.length) ??
    numbersProblem("load", loads, Number.isNaN) ??
    numbersProblem("cost", costs ?? [], () => false) ??
    limitsProblem(input.limits)
  );
}

function membersProblem(members: readonly BalancedMember[], dimensions: number): string | undefined {
  const seen = new Set<string>();
  for (const { node, capacity } of members) {
    if (seen.has(node)) return `node ${JSON.stringify(node)} is listed twice`;
    seen.add(node);
    if (capacity.length !== dimensions)
      return `node ${JSON.stringify(node)} has ${capacity.length} capacities: give one for each of ${dimensions} dimensions`;
    if (!capacity.every((value) => Number.isFinite(value) && value >= 0))
      return `node ${JSON.stringify(node)} has capacity ${capacity.join(", ")}: make each a finite number from 0 up`;
  }
  return undefined;
}

function numbersProblem(
  what: string,
  values: ArrayLike<number>,
  except: (value: number) => boolean,
): string | undefined {
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!(value >= 0 && value < Infinity) && !except(value))
      return `${what} ${i} is ${value}: make it a finite number from 0 up`;
  }
  return undefined;
}
