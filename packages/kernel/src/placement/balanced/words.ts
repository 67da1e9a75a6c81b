import { NOWHERE, type Draft } from "./draft.ts";
import type { Why } from "./proposal.ts";

/**
 * Why a replica moves, in words with the numbers. `before` are the heights that nodes had before the round, which is what the reasons speak of.
 */
export function because(
  draft: Draft,
  before: Float64Array,
  move: { index: number; to: number; why: Why },
): string {
  const { fleet } = draft;
  const { index, to, why } = move;
  const name = (node: number): string => fleet.members[node]!.node;
  const stood = (node: number): string => `${name(node)} stood at ${times(before[node]!)}`;
  const from = draft.home[index]!;
  const last = fleet.input.holders[index] ?? fleet.input.targets[index] ?? "its node";
  switch (why) {
    case "new":
      return `nobody held it; ${stood(to)}`;
    case "lost":
      return `${last} is gone; ${stood(to)}`;
    case "draining":
      return `${name(from)} is draining or has no capacity; ${stood(to)}`;
    case "pinned":
      return `an operator pinned it to ${name(to)}`;
    case "displaced":
      return `it makes way on ${from === NOWHERE ? last : name(from)} for a replica that has to be there`;
    case "zones":
      return `zone ${fleet.members[from]!.zone} had more replicas of the shard than need be`;
    case "peak":
      return `${stood(from)}, its ceiling is ${times(draft.ceiling[from]!)}; ${stood(to)}`;
    case "floor":
      return `${stood(to)}, its floor is ${times(fleet.bottom[to]!)}; ${stood(from)}`;
    case "swap":
      return `an exchange to even out ${name(from)} and ${name(to)}; ${stood(from)}, ${stood(to)}`;
    case "stays":
      return "it stays where it is";
  }
}

export function times(height: number): string {
  return `${height.toFixed(2)} × average`;
}
