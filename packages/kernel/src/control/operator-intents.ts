import { nameProblem } from "../identity/names.ts";
import type { Keys } from "../identity/keys.ts";
import type { Known } from "../lifecycle/facts.ts";
import type { Pin } from "../placement/balanced/input.ts";
import type { Commit, Entry } from "../store/contract.ts";

/**
 * `fleet/intents`: what operators want of the fleet, as one small value that nobody but an operator's command writes. Placements that the manager computes
 * take it as input: a drained node gives up all it holds and gets nothing, a pinned replica goes to its node if that can hold it.
 * It says nothing of what has become of it; that is for the plan to say.
 */
export interface OperatorIntents {
  readonly v: 1;
  /** Nodes that shall be emptied, sorted. A node stays drained when it is restarted, until an operator takes the word back. */
  readonly drained: readonly string[];
  readonly pins: readonly ServicePin[];
}

export interface ServicePin extends Pin {
  readonly service: string;
}

export const NO_INTENTS: OperatorIntents = { v: 1, drained: [], pins: [] };

/** Together they stay below the 64 KiB of a value, with names of ordinary length. */
export const pinsMax = 400;
export const drainedMax = 400;

/** What stands in the store, with the revision to guard on; 0 and no intents when nothing does. */
export function readIntents(entry: Entry | undefined): Known<OperatorIntents> {
  if (!entry) return { value: NO_INTENTS, revision: 0 };
  const value = JSON.parse(entry.value) as Partial<OperatorIntents>;
  return { value: { ...NO_INTENTS, ...value }, revision: entry.revision };
}

/** The commit that makes the changed intents stand, guarded on those that were read: of two operators at once one is told to look again. */
export function intentsCommit(keys: Keys, known: Known<OperatorIntents>, changed: OperatorIntents): Commit {
  return {
    guards: [{ key: keys.intents, revision: known.revision }],
    writes: [{ kind: "put", key: keys.intents, value: JSON.stringify(changed) }],
  };
}

/** Undefined when the intents can be kept; otherwise what is wrong, as one sentence that says what to do. */
export function intentsProblem({ drained, pins }: OperatorIntents): string | undefined {
  if (drained.length > drainedMax)
    return `${drained.length} nodes are drained, more than ${drainedMax}: take back those that are gone`;
  if (pins.length > pinsMax)
    return `${pins.length} replicas are pinned, more than ${pinsMax}: let the placement decide about some`;
  const names = [...drained, ...pins.map(({ node }) => node)];
  for (const name of names) {
    const problem = nameProblem("node id", name);
    if (problem) return problem;
  }
  return undefined;
}

export function withDrained(intents: OperatorIntents, node: string): OperatorIntents {
  return { ...intents, drained: [...new Set([...intents.drained, node])].sort() };
}

export function withoutDrained(intents: OperatorIntents, node: string): OperatorIntents {
  return { ...intents, drained: intents.drained.filter((one) => one !== node) };
}

/** A pin replaces the one that stands for the same replica, or for the same shard as a whole. */
export function withPin(intents: OperatorIntents, pin: ServicePin): OperatorIntents {
  return { ...intents, pins: [...withoutPin(intents, pin).pins, pin] };
}

export function withoutPin(
  intents: OperatorIntents,
  { service, shard, replica }: Pick<ServicePin, "service" | "shard" | "replica">,
): OperatorIntents {
  const same = (pin: ServicePin): boolean =>
    pin.service === service && pin.shard === shard && pin.replica === replica;
  return { ...intents, pins: intents.pins.filter((pin) => !same(pin)) };
}
