/**
 * How busy nodes are, as each of them writes it into the catalogue: now and then, and when it has changed. Whoever looks after the fleet reads it before it wishes for fewer nodes, or for more. It is
 * no heartbeat: who is a member says the store.
 */

/** `load/<node>`. */
export interface LoadRecord {
  readonly v: 1;
  /** Share of a processor, lately; 1 is one whole one. */
  readonly cpu: number;
  /** How many it may use; nodes that were started before this was told do not say. */
  readonly processors?: number;
  /** Wall clock. */
  readonly at: number;
}

/** A change by less is not worth a write. */
const cpuStep = 0.05;
/** It is written again after this, changed or not; one that is three times as old says nothing any more. */
export const loadEveryMs = 60_000;
const staleMs = 3 * loadEveryMs;

/** Whether to write, after what was written last. */
export function isWorthTelling(told: LoadRecord | undefined, now: LoadRecord): boolean {
  return !told || Math.abs(told.cpu - now.cpu) > cpuStep || now.at - told.at >= loadEveryMs;
}

/** What the busiest node uses; undefined while one of them has not said, because that one may be busy. */
export function busiest(
  nodes: Iterable<string>,
  loads: ReadonlyMap<string, LoadRecord>,
  wall: number,
): number | undefined {
  let most = 0;
  for (const node of nodes) {
    const load = loads.get(node);
    if (!load || wall - load.at > staleMs) return undefined;
    most = Math.max(most, load.cpu);
  }
  return most;
}

/** Of the processors of all nodes, the share that is used; undefined while one of them has not said. */
export function sharedUse(
  nodes: Iterable<string>,
  loads: ReadonlyMap<string, LoadRecord>,
  wall: number,
): number | undefined {
  let used = 0;
  let all = 0;
  for (const node of nodes) {
    const load = loads.get(node);
    if (load?.processors === undefined || wall - load.at > staleMs) return undefined;
    used += load.cpu;
    all += load.processors;
  }
  return all === 0 ? undefined : used / all;
}

/** Nodes that are gone, whose records nobody needs. */
export function leftLoads(
  nodes: Pick<ReadonlySet<string>, "has">,
  loads: ReadonlyMap<string, LoadRecord>,
  wall: number,
): string[] {
  return [...loads].filter(([node, { at }]) => !nodes.has(node) && wall - at > staleMs).map(([node]) => node);
}
