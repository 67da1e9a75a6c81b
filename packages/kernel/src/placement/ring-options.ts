import type { ServiceParameters } from "../membership/view.ts";

/** The options of `ring/1`, as they stand in a view's `parameters.placement`. All nodes read them there, so all compute the same plan. */
export interface RingOptions {
  /** Tokens of a node of weight 1. More tokens, more even shares: a share deviates by about 1 / √vnodes. */
  readonly vnodes: number;
  /** No node holds more than this times its fair share, where distinct nodes and zones allow; 0 means no bound. */
  readonly loadFactor: number;
}

/** 100 tokens keep 1,000 nodes at 100,000 tokens; 1.25 is the bound at which a change of one node moves little more than its share. */
export const RING_DEFAULTS: RingOptions = { vnodes: 100, loadFactor: 1.25 };

/** Above this a ring costs more to build than evener shares are worth. */
const vnodesMax = 1_000;
/** A bound below this makes nearly every node full, and each change of the fleet moves shards all over it. */
const loadFactorMin = 1.01;
const loadFactorMax = 100;

/** Undefined when a service may declare these placement options; otherwise what is wrong, as one sentence that says what to do. */
export function ringProblem(placement: ServiceParameters["placement"]): string | undefined {
  for (const [name, value] of Object.entries(placement)) {
    if (name === "vnodes") {
      if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > vnodesMax)
        return `placement option vnodes is ${JSON.stringify(value)}: make it a whole number from 1 to ${vnodesMax}`;
    } else if (name === "loadFactor") {
      const good =
        value === 0 || (typeof value === "number" && value >= loadFactorMin && value <= loadFactorMax);
      if (!good)
        return `placement option loadFactor is ${JSON.stringify(value)}: make it 0 (no bound) or a number from ${loadFactorMin} to ${loadFactorMax}`;
    } else {
      return `placement option ${JSON.stringify(name)} is not one of ring/1: it knows vnodes and loadFactor`;
    }
  }
  return undefined;
}

/** The options of a view, with defaults for those it does not name. Throws on options that {@link ringProblem} refuses. */
export function ringOptions(placement: ServiceParameters["placement"]): RingOptions {
  const problem = ringProblem(placement);
  if (problem !== undefined) throw new RangeError(problem);
  const vnodes = placement["vnodes"];
  const loadFactor = placement["loadFactor"];
  return {
    vnodes: typeof vnodes === "number" ? vnodes : RING_DEFAULTS.vnodes,
    loadFactor: typeof loadFactor === "number" ? loadFactor : RING_DEFAULTS.loadFactor,
  };
}
