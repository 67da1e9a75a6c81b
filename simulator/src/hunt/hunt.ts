import { BREAKABLE, huntFor, rulesWithout } from "../breaks.ts";
import type { Violation } from "../checkers/checker.ts";
import { realNode, realRouter } from "../drivers.ts";
import { loadScenario } from "../scenario/files.ts";
import { Simulation } from "../simulation.ts";

/** The first thing that went wrong with a rule switched off. */
export interface Catch {
  readonly seed: number;
  readonly violation: Violation;
  /** Simulated time of all runs together, this one included. */
  readonly simulatedMs: number;
}

/**
 * Looks for a violation with one rule switched off: one run after another, each with the next seed, until something is found or the budget is spent. Many short runs find more than
 * a long one, because each lives in another world.
 */
export async function hunt(
  rule: string,
  seeds: Iterable<number>,
  eachMs: number,
  budgetMs: number,
): Promise<Catch | undefined> {
  const broken = rulesWithout(rule);
  if (!broken) throw new Error(`no rule ${rule}; there are ${BREAKABLE.map(({ name }) => name).join(", ")}`);
  const scenario = loadScenario(huntFor(rule));
  let simulatedMs = 0;
  for (const seed of seeds) {
    const simulation = new Simulation({
      scenario,
      seed,
      own: broken.own,
      makeNode: (world) => realNode(world, broken.rules),
      makeRouter: realRouter,
      violationsMax: 1,
    });
    await simulation.run(eachMs);
    simulatedMs += simulation.scheduler.now;
    const violation = simulation.violations[0];
    if (violation) return { seed, violation, simulatedMs };
    if (simulatedMs >= budgetMs) return undefined;
  }
  return undefined;
}
