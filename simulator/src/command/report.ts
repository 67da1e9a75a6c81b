import { quantile } from "../auction/measures.ts";
import { BalanceChecker } from "../checkers/auction/balance.ts";
import { PromptnessChecker } from "../checkers/auction/promptness.ts";
import { LevelChecker } from "../checkers/level.ts";
import { MovesChecker } from "../checkers/moves.ts";
import type { Violation } from "../checkers/checker.ts";
import type { Simulation } from "../simulation.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { RunArguments } from "./arguments.ts";

/** Prints a run for people. What scripts read is the line `violations: N` and the exit code. */

/** Everything that decides a run, printed before it begins. */
export function opening(
  simulation: Simulation,
  scenario: Scenario,
  seed: number,
  args: RunArguments,
): string {
  const { fleet, workload, faults, operations } = scenario;
  const knobs = Object.entries(simulation.knobs).map(
    ([name, value]) => `${name} ${Number(value.toPrecision(3))}`,
  );
  return lines(
    `scenario ${scenario.name}: ${scenario.about}`,
    `seed ${seed}`,
    `fleet: ${fleet.nodes} nodes${fleet.spares > 0 ? ` and ${fleet.spares} spare` : ""}, ${fleet.zones} zones, ${fleet.shards} shards × ${fleet.replicas}${fleet.primary ? " with primaries" : ""}`,
    `load: ${workload.requestsPerSecond} requests/s from ${workload.clients} clients; ${faults.perMinute} faults/min, ambush ${faults.ambush}, ${operations.perMinute} operations/min`,
    `knobs: ${knobs.join(", ")}`,
    ...(args.breaks === undefined ? [] : [`rule broken on purpose: ${args.breaks}`]),
  );
}

export function summary(simulation: Simulation, realMs: number): string {
  const { workload, tally, injector, operations, scheduler, violations, trace } = simulation;
  const { requests, ok, failed, reasons } = workload.counts;
  const simulated = scheduler.now;
  return lines(
    `requests: ${requests}, ok ${ok}, failed ${failed}${failed > 0 ? ` (${counts(reasons)})` : ""}`,
    `faults: ${counts(injector.counts) || "none"}`,
    ...(operations.counts.size > 0 ? [`operations: ${counts(operations.counts)}`] : []),
    `decisions: ${counts(tally.decisions)}`,
    ...auctionLines(simulation),
    ...levelLines(simulation),
    `node starts: ${tally.starts}, store changes: ${tally.storeChanges}, times settled: ${tally.settled}`,
    `simulated: ${(simulated / 3_600_000).toFixed(2)} h in ${(realMs / 1000).toFixed(1)} s, ${Math.round(simulated / realMs)} × real time, ${scheduler.ran} events`,
    `trace hash: ${trace.hash}`,
    ...(violations.length > 0 ? [`by checker: ${counts(byChecker(violations))}`] : []),
    `violations: ${violations.length}`,
  );
}

/** What the promises about auctions are measured by. */
function auctionLines({ checkers, autoscaler }: Simulation): string[] {
  const promptness = checkers.find((checker) => checker instanceof PromptnessChecker);
  const balance = checkers.find((checker) => checker instanceof BalanceChecker);
  if (!promptness || promptness.afterMs.length === 0) return [];
  const after = promptness.afterMs.toSorted((a, b) => a - b);
  const levels = (balance?.imbalances ?? []).toSorted((a, b) => a - b);
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  return [
    `auctions: ${after.length} won, closed ${quantile(after, 0.5).toFixed(1)} ms (p50) and ${quantile(after, 0.99).toFixed(1)} ms (p99) after the last answer`,
    ...(levels.length > 0
      ? [
          `imbalance at rest: ${percent(quantile(levels, 0.5))} (p50), ${percent(levels.at(-1) ?? 0)} (max) of ${levels.length}`,
        ]
      : []),
    ...(autoscaler ? [`autoscaler: started ${autoscaler.started}, drained ${autoscaler.drained}`] : []),
  ];
}

/** What placement by load is measured by. */
function levelLines({ checkers }: Simulation): string[] {
  const level = checkers.find((checker) => checker instanceof LevelChecker);
  const moves = checkers.find((checker) => checker instanceof MovesChecker);
  if (!level || level.highest.length === 0) return [];
  const sorted = level.highest.toSorted((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(sorted, share).toFixed(3));
  return [
    `highest node at rest: ${p50} (p50), ${p99} (p99), ${sorted.at(-1)!.toFixed(3)} (max) of the average, ${sorted.length} times; ${moves?.moves ?? 0} moves`,
  ];
}

/** What went wrong first, what led to it, and how to see it again. */
export function failure(
  simulation: Simulation,
  lastLines: readonly string[],
  seed: number,
  args: RunArguments,
): string {
  const shown = simulation.violations.slice(0, violationsShown).map(describeViolation);
  const more = simulation.violations.length - shown.length;
  return lines(
    "",
    "what led to the first violation:",
    ...lastLines,
    "",
    "violations:",
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
    "",
    `replay: npm run sim -- ${replay(seed, args)}`,
    "",
  );
}

/** A driver, or the simulator, threw what nobody caught. */
export function crash(simulation: Simulation, error: unknown, seed: number, args: RunArguments): string {
  return lines(
    "",
    "what led to it:",
    ...simulation.trace.recent,
    "",
    `the code under test failed at ${(simulation.scheduler.now / 1000).toFixed(3)} s: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    `replay: npm run sim -- ${replay(seed, args)}`,
  );
}

function replay(seed: number, args: RunArguments): string {
  const flags = [`--seed ${seed}`, `--scenario ${args.scenario}`, `--hours ${args.hours}`];
  if (args.breaks !== undefined) flags.push(`--break ${args.breaks}`);
  for (const name of ["nodes", "shards", "replicas", "requests", "faults"] as const)
    if (args[name] !== undefined) flags.push(`--${name} ${args[name]}`);
  return [...flags, "--trace"].join(" ");
}

function describeViolation({ atMs, checker, subject, text }: Violation): string {
  return `  ${(atMs / 1000).toFixed(3).padStart(10)} s  ${checker.padEnd(12)} ${subject}: ${text}`;
}

function byChecker(violations: readonly Violation[]): Map<string, number> {
  const counted = new Map<string, number>();
  for (const { checker } of violations) counted.set(checker, (counted.get(checker) ?? 0) + 1);
  return counted;
}

function counts(map: ReadonlyMap<string, number>): string {
  return [...map]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}

function lines(...all: string[]): string {
  return `${all.join("\n")}\n`;
}

const violationsShown = 10;
