import type { BalancedInput, BalancedMember } from "./input.ts";
import type { BalancedProposal } from "./proposal.ts";
import { zoneLevel } from "./zones.ts";

/** Sums are made in another order here than in the search. */
const tolerance = 1e-9;

/**
 * The last look at a proposal before it leaves: throws when it breaks a rule of the placement, which is a bug, never a matter of input. It shares no
 * code with the search; it works from the input and the proposal alone.
 */
export function assertSound(input: BalancedInput, proposal: BalancedProposal): void {
  const members = new Map(input.members.map((member) => [member.node, member]));
  checkMoves(input, proposal);
  checkPlaces(input, proposal, members);
  checkZones(input, proposal, members);
  checkPins(input, proposal);
  checkCapacity(input, proposal, members);
  checkCaps(input, proposal);
}

function broken(rule: string): never {
  throw new Error(`balanced/1 broke its own rule: ${rule}`);
}

/** Every change of a target is a move, and every move a change. */
function checkMoves(
  { shards, replicas }: BalancedInput,
  { targets, moves, whys, waiting }: BalancedProposal,
): void {
  if (targets.length !== shards.length * replicas || whys.length !== targets.length)
    broken("one target and one reason for each replica");
  const moving = new Set<number>();
  for (const { index, to } of moves) {
    if (moving.has(index)) broken(`replica ${index} moves once`);
    if (targets[index] !== to) broken(`replica ${index} moves to its target`);
    moving.add(index);
  }
  for (const { index } of waiting) if (moving.has(index)) broken(`replica ${index} moves or waits, not both`);
  for (const [index, why] of whys.entries())
    if ((why === "stays") === moving.has(index)) broken(`replica ${index} moves for a reason, or stays`);
}

/** Replicas of a shard are on distinct members that are open, unless they stay where they are held; what is nowhere is refused. */
function checkPlaces(
  input: BalancedInput,
  { targets, refusals, whys }: BalancedProposal,
  members: ReadonlyMap<string, BalancedMember>,
): void {
  const refused = refusals.some(({ kind }) => kind === "unplaced");
  for (const [index, node] of targets.entries()) {
    if (node === undefined) {
      if (!refused) broken(`replica ${index} is nowhere, and no refusal says why`);
      continue;
    }
    const member = members.get(node);
    if (!member) broken(`replica ${index} is to be on ${node}, which is no member`);
    else if (whys[index] !== "stays" && (member.draining || member.capacity.includes(0)))
      broken(`replica ${index} is to move to ${node}, which is draining or has no capacity`);
    const shard = index - (index % input.replicas);
    for (let sibling = shard; sibling < index; sibling++)
      if (targets[sibling] === node)
        broken(`replicas ${sibling} and ${index} of a shard are both on ${node}`);
  }
}

/** No zone has more of a shard's replicas than need be, unless one of them waits to leave it, or a refusal says why. */
function checkZones(
  input: BalancedInput,
  { targets, refusals, waiting }: BalancedProposal,
  members: ReadonlyMap<string, BalancedMember>,
): void {
  if (refusals.some(({ kind }) => kind === "zones")) return;
  const perZone = new Map<string, number>();
  for (const { zone, draining, capacity } of input.members)
    if (!draining && !capacity.includes(0)) perZone.set(zone, (perZone.get(zone) ?? 0) + 1);
  const level = zoneLevel([...perZone.values()], input.replicas);
  const restless = new Set(waiting.map(({ shard }) => shard));
  for (const [shard, id] of input.shards.entries()) {
    if (restless.has(id)) continue;
    const zones = new Map<string, number>();
    for (let index = shard * input.replicas; index < (shard + 1) * input.replicas; index++) {
      const zone = members.get(targets[index] ?? "")?.zone;
      if (zone !== undefined) zones.set(zone, (zones.get(zone) ?? 0) + 1);
    }
    for (const [zone, count] of zones)
      if (count > level && perZone.has(zone)) broken(`shard ${id} has ${count} replicas in zone ${zone}`);
  }
}

/** A pin is kept, waits, or is refused. */
function checkPins(input: BalancedInput, { targets, refusals, waiting }: BalancedProposal): void {
  if (input.pins.length === 0 || refusals.filter(({ kind }) => kind === "pin").length >= input.pins.length)
    return;
  const shards = new Map(input.shards.map((id, shard) => [id, shard]));
  for (const { shard, replica, node } of input.pins) {
    const first = (shards.get(shard) ?? 0) * input.replicas;
    const kept =
      replica === undefined
        ? targets.slice(first, first + input.replicas).includes(node)
        : targets[first + replica] === node;
    const waits = waiting.some((move) => move.shard === shard && move.to === node);
    const refused = refusals.some(
      (refusal) => refusal.kind === "pin" && (refusal.shard === undefined || refusal.shard === shard),
    );
    if (!kept && !waits && !refused) broken(`shard ${shard} is pinned to ${node}`);
  }
}

/** Nobody that gets something is over a hard capacity. */
function checkCapacity(
  input: BalancedInput,
  { targets, moves }: BalancedProposal,
  members: ReadonlyMap<string, BalancedMember>,
): void {
  const getting = new Set(moves.map(({ to }) => to));
  for (const [d, { name, hard }] of input.dimensions.entries()) {
    if (!hard) continue;
    const needs = new Map<string, number>();
    const mean = meanLoad(input, d);
    for (const [index, node] of targets.entries()) {
      if (node === undefined) continue;
      const load = input.loads[index * input.dimensions.length + d]!;
      needs.set(node, (needs.get(node) ?? 0) + (Number.isNaN(load) ? mean : load));
    }
    for (const node of getting) {
      const capacity = members.get(node)!.capacity[d]!;
      if ((needs.get(node) ?? 0) > capacity * (1 + tolerance))
        broken(`${node} has more ${name} than its capacity`);
    }
  }
}

/** Moves for balance keep to the budget, and what the caps are for keeps to them. */
function checkCaps({ limits }: BalancedInput, { moves }: BalancedProposal): void {
  const balance = moves.filter(
    ({ why }) => why === "peak" || why === "floor" || why === "swap" || why === "zones",
  );
  const cost = balance.reduce((sum, move) => sum + move.cost, 0);
  if (balance.length > limits.churnMovesMax || cost > limits.churnCostMax * (1 + tolerance))
    broken("moves for balance keep to the budget");
}

function meanLoad({ loads, dimensions }: BalancedInput, dimension: number): number {
  let sum = 0;
  let measured = 0;
  for (let i = dimension; i < loads.length; i += dimensions.length) {
    if (Number.isNaN(loads[i])) continue;
    sum += loads[i]!;
    measured += 1;
  }
  return measured === 0 ? 0 : sum / measured;
}
