import { NOWHERE, type Draft } from "./draft.ts";

/**
 * The first phase: takes every replica off members that are draining or have no capacity, and returns all that now need a node, the lost and the
 * new ones included.
 */
export function evacuate(draft: Draft): number[] {
  const { fleet, at, why } = draft;
  const homeless: number[] = [];
  for (let index = 0; index < fleet.count; index++) {
    const node = at[index]!;
    if (node !== NOWHERE && fleet.open[node] === 1) continue;
    if (node !== NOWHERE) {
      draft.lift(index);
      why[index] = "draining";
    }
    homeless.push(index);
  }
  return homeless;
}
