import type { ReplicaKey } from "../../identity/keys.ts";
import type { ViewMember } from "../../membership/view.ts";
import type { BalancedInput, BalancedMember, Dimension, Pin } from "../../placement/balanced/input.ts";
import type { BalancedLimits } from "../../placement/balanced/limits.ts";
import type { LoadBook } from "../../placement/balanced/load-book.ts";
import type { PlanLine } from "../../placement/plan.ts";
import type { BalanceReading } from "./reading.ts";

/** Everything that a plan is made from, before it is brought into the placement's form. */
export interface PlanSources {
  readonly reading: BalanceReading;
  readonly loads: LoadBook;
  readonly restarted: ReadonlySet<string>;
  readonly pins: readonly Pin[];
  /** By index: where the last plan wanted each replica. */
  readonly targets: readonly (string | undefined)[];
  /** Who takes over what nobody holds; needed only when something is not held. */
  readonly lines: ReadonlyMap<ReplicaKey, PlanLine> | undefined;
  readonly limits: BalancedLimits;
}

const LOAD: Dimension = { name: "load", hard: false };
const MEMORY: Dimension = { name: "memory", hard: false };
/** When nothing was measured, replicas are counted. */
const COUNT: Dimension = { name: "replicas", hard: false };

/**
 * Brings what is known into the form of the placement. Dimensions are those that somebody measured; memory is a hard limit once nodes have said how much they
 * have. Nodes that have not said so yet, because they have just come, are taken to have what their capacity gives them beside the others.
 */
export function planInput(sources: PlanSources): BalancedInput {
  const { reading, loads: book, restarted, pins, targets, lines, limits } = sources;
  const view = reading.view!.value;
  const { loads, bytes } = book.of(reading.names);
  const budgets = budgetsOf(view.members, book);
  const columns: { readonly dimension: Dimension; readonly values: Float64Array }[] = [];
  if (loads.some(isKnown)) columns.push({ dimension: LOAD, values: loads });
  if (bytes.some(isKnown))
    columns.push({ dimension: { ...MEMORY, hard: budgets !== undefined }, values: bytes });
  if (columns.length === 0) columns.push({ dimension: COUNT, values: loads });
  const members = view.members.map(({ node, zone, weight }): BalancedMember => ({
    node,
    zone,
    capacity: columns.map(({ dimension }) => (dimension.hard ? budgets!.get(node)! : weight)),
    draining: weight === 0,
    restarted: restarted.has(node),
  }));
  const { length } = reading.names;
  const flat = new Float64Array(length * columns.length);
  for (const [d, { values }] of columns.entries())
    for (let index = 0; index < length; index++) flat[index * columns.length + d] = values[index]!;
  const costs = bytes.some(isKnown) ? costsOf(bytes) : undefined;
  const preferred = lines && preferredNodes(reading, lines);
  return {
    viewN: view.n,
    dimensions: columns.map(({ dimension }) => dimension),
    members,
    shards: reading.shards,
    replicas: reading.replicas,
    loads: flat,
    holders: [...reading.holders],
    targets,
    pins,
    limits,
    ...(costs ? { costs } : {}),
    ...(preferred ? { preferred } : {}),
  };
}

/** What each member has for shards in all; undefined when nobody says. */
function budgetsOf(members: readonly ViewMember[], book: LoadBook): ReadonlyMap<string, number> | undefined {
  const told = members.filter(({ node, weight }) => weight > 0 && book.budgetBytes(node) !== undefined);
  const weight = told.reduce((sum, member) => sum + member.weight, 0);
  const bytes = told.reduce((sum, { node }) => sum + book.budgetBytes(node)!, 0);
  if (weight === 0) return undefined;
  return new Map(
    members.map((member) => [member.node, book.budgetBytes(member.node) ?? (bytes / weight) * member.weight]),
  );
}

/** What nobody holds is about to be taken by the first in line: a plan that says otherwise would move it twice. */
function preferredNodes(
  { replicaKeys, holders }: BalanceReading,
  lines: ReadonlyMap<ReplicaKey, PlanLine>,
): Map<number, readonly string[]> {
  const preferred = new Map<number, readonly string[]>();
  for (const [index, key] of replicaKeys.entries()) {
    if (holders[index] !== undefined) continue;
    const first = lines.get(key)?.candidates[0];
    if (first !== undefined) preferred.set(index, [first]);
  }
  return preferred;
}

/** Moves cost what is to be copied; what was not measured costs the mean. */
function costsOf(bytes: Float64Array): Float64Array {
  const known = bytes.filter(isKnown);
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return bytes.map((value) => (isKnown(value) ? value : mean));
}

function isKnown(value: number): boolean {
  return !Number.isNaN(value);
}
