import type { DryRun, PlacementExplanation, Shadow } from "./explain-plan.ts";
import type { PlannedMove } from "./proposal.ts";

/** How many lines of one kind are shown before the rest is only counted. */
export const linesShownMax = 20;

/** A dry run as text, the most important first. */
export function dryRunText(run: DryRun, shownMax = linesShownMax): string {
  const begun = run.moves.length;
  const lines = [
    `plan for view ${run.viewN}: ${plural(begun, "move")}${run.waiting.length > 0 ? `, ${run.waiting.length} waiting` : ""}${run.refusals.length > 0 ? `, ${run.refusals.length} refused` : ""}`,
  ];
  for (const { why, moves, cost, waiting } of run.totals)
    lines.push(
      `  ${why}: ${plural(moves, "move")} at a cost of ${round(cost)}${waiting > 0 ? `, ${waiting} waiting` : ""}`,
    );
  lines.push(...section("moves", run.moves, shownMax, moveText));
  lines.push(
    ...section("waiting", run.waiting, shownMax, (move) => `${moveText(move)}; waits for ${move.waitsFor}`),
  );
  lines.push(...section("refused", run.refusals, shownMax, ({ because }) => because));
  lines.push("nodes: replicas, and utilisation as a multiple of the average, before → after");
  for (const { node, zone, draining, before, after } of run.nodes) {
    const utilisation = run.dimensions.map(
      (name, d) => `${name} ${before.utilisation[d]!.toFixed(2)} → ${after.utilisation[d]!.toFixed(2)}`,
    );
    lines.push(
      `  ${node} (${zone}${draining ? ", draining" : ""}): ${before.replicas} → ${after.replicas}, ${utilisation.join(", ")}`,
    );
  }
  return `${lines.join("\n")}\n`;
}

/** The difference of two plans as text. */
export function shadowText(difference: Shadow, shownMax = linesShownMax): string {
  const { moves, replicas, nodes } = difference;
  if (moves.length === 0) return `the two plans agree on all ${replicas} replicas\n`;
  const share = ((moves.length / Math.max(1, replicas)) * 100).toFixed(1);
  const lines = [`the other plan would move ${moves.length} of ${replicas} replicas (${share} %)`];
  lines.push(
    ...section(
      "moves",
      moves,
      shownMax,
      ({ replica, from, to }) => `${replica}: ${from ?? "nobody"} → ${to ?? "nobody"}`,
    ),
  );
  lines.push(
    ...section("nodes", nodes, shownMax, ({ node, gets, gives }) => `${node} gets ${gets}, gives ${gives}`),
  );
  return `${lines.join("\n")}\n`;
}

/** Why a replica is where it is, as text. */
export function replicaText({ shard, replica, target, because, others }: PlacementExplanation): string {
  const lines = [`shard ${shard}, replica ${replica}: ${target ?? "nobody"}`, `  ${because}`];
  for (const other of others) lines.push(`  not ${other.node}: ${other.because}`);
  return `${lines.join("\n")}\n`;
}

function moveText({ shard, replica, from, to, cost, because }: PlannedMove): string {
  return `${shard}/${replica}: ${from ?? "nobody"} → ${to}, cost ${round(cost)}; ${because}`;
}

function section<T>(
  title: string,
  items: readonly T[],
  shownMax: number,
  text: (item: T) => string,
): string[] {
  if (items.length === 0) return [];
  const shown = items.slice(0, shownMax).map((item) => `  ${text(item)}`);
  const more = items.length - shown.length;
  return [title, ...shown, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function round(cost: number): string {
  return String(Math.round(cost * 1000) / 1000);
}
