import { choose } from "./choose.ts";
import { NOWHERE, type Draft } from "./draft.ts";
import type { Pin } from "./input.ts";
import type { Refusal } from "./proposal.ts";

/**
 * Puts pinned replicas where operators want them and keeps every later phase from moving them. A sibling that is in the way makes way, if there is
 * another place for it. A pin that cannot be kept is refused, and the replica is treated like any other.
 */
export function pin(draft: Draft): Refusal[] {
  const { pins, shards } = draft.fleet.input;
  if (pins.length === 0) return [];
  const positions = new Map(shards.map((id, position) => [id, position]));
  const refusals: Refusal[] = [];
  // Pins that name a replica come first: the others take what is left.
  for (const named of [true, false]) {
    for (const wish of pins) {
      if ((wish.replica !== undefined) !== named) continue;
      const because = keep(draft, wish, positions.get(wish.shard));
      if (because === undefined) continue;
      const { shard, replica, node } = wish;
      refusals.push({ kind: "pin", shard, node, because, ...(replica === undefined ? {} : { replica }) });
    }
  }
  return refusals;
}

/** Undefined when the pin is kept; otherwise why not. */
function keep(draft: Draft, wish: Pin, shard: number | undefined): string | undefined {
  const { fleet } = draft;
  const said = `${name(wish)} is pinned to ${wish.node}`;
  const node = fleet.indexOf(wish.node);
  if (shard === undefined) return `${said}, but there is no such shard: remove the pin`;
  if (node === NOWHERE) return `${said}, which is not a member`;
  if (fleet.open[node] === 0) return `${said}, which is draining or has no capacity`;
  if (wish.replica !== undefined && !(wish.replica >= 0 && wish.replica < fleet.replicas))
    return `${said}, but replicas are numbered 0 to ${fleet.replicas - 1}: remove the pin`;
  const index = pick(draft, wish, shard, node);
  if (index === NOWHERE) return `${said}, but all replicas of the shard are pinned to other nodes`;
  if (draft.pinned[index] !== NOWHERE && draft.pinned[index] !== node)
    return `${said} and to ${fleet.members[draft.pinned[index]!]!.node}: remove one of the pins`;
  if (draft.at[index] !== node) {
    const problem = bring(draft, index, node);
    if (problem !== undefined) return `${said}, ${problem}`;
  }
  draft.pinned[index] = node;
  draft.fixed[index] = 1;
  return undefined;
}

/** The replica that a pin is about: the one it names, one that is there already, or the first that has no pin. */
function pick(draft: Draft, wish: Pin, shard: number, node: number): number {
  const { replicas } = draft.fleet;
  if (wish.replica !== undefined) return shard * replicas + wish.replica;
  const siblings = Array.from({ length: replicas }, (_, replica) => shard * replicas + replica);
  return (
    siblings.find((index) => draft.at[index] === node) ??
    siblings.find((index) => draft.at[index] === NOWHERE && draft.pinned[index] === NOWHERE) ??
    siblings.find((index) => draft.pinned[index] === NOWHERE) ??
    NOWHERE
  );
}

/** Moves the replica to the node, and a sibling that is there to somewhere else. Undefined when that worked. */
function bring(draft: Draft, index: number, node: number): string | undefined {
  const { replicas } = draft.fleet;
  const first = index - (index % replicas);
  const before = draft.at[index]!;
  let sibling = first;
  while (sibling < first + replicas && draft.at[sibling] !== node) sibling++;
  const crowded = sibling < first + replicas;
  if (crowded && draft.pinned[sibling] !== NOWHERE) return "where another replica of the shard is pinned";
  if (crowded) draft.lift(sibling);
  if (!draft.fits(index, node, NOWHERE)) {
    if (crowded) draft.put(sibling, node);
    return "which has no room for it";
  }
  draft.put(index, node);
  if (crowded) {
    const place = choose(draft, sibling, true);
    if (place === NOWHERE) {
      draft.lift(index);
      if (before !== NOWHERE) draft.put(index, before);
      draft.put(sibling, node);
      return "where another replica of the shard is that has nowhere else to go";
    }
    draft.move(sibling, place, "displaced");
    draft.fixed[sibling] = 0;
    // The two can then only begin together: each is in the other's way.
    if (place === before) draft.exchanges.push({ head: index, rest: [sibling] });
  }
  draft.why[index] = "pinned";
  return undefined;
}

function name({ shard, replica }: Pin): string {
  return replica === undefined ? `shard ${shard}` : `shard ${shard}, replica ${replica},`;
}
