import { choose } from "./choose.ts";
import { NOWHERE, type Draft } from "./draft.ts";

/**
 * Gives a node to each replica that has none, the heaviest first, because light ones fill the gaps that heavy ones leave. What finds no
 * place goes back to its draining node, if it came from one, and stays nowhere otherwise.
 */
export function place(draft: Draft, homeless: readonly number[]): void {
  const { averages, dimensions, weights } = draft.fleet;
  const left = homeless.filter((index) => draft.at[index] === NOWHERE);
  const share = new Float64Array(draft.fleet.count);
  for (const index of left)
    for (let d = 0; d < dimensions; d++)
      share[index] = Math.max(share[index]!, weights[index * dimensions + d]! / averages[d]!.value);
  for (const index of left.sort((a, b) => share[b]! - share[a]! || a - b)) {
    const node = choose(draft, index, true);
    if (node !== NOWHERE) draft.put(index, node);
    else if (draft.home[index] !== NOWHERE) draft.put(index, draft.home[index]!);
  }
}
