import { rulesWithout } from "../breaks.ts";
import { realNode, realRouter } from "../drivers.ts";
import { loadScenario } from "../scenario/files.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { Simulation } from "../simulation.ts";
import type { RunArguments } from "./arguments.ts";
import { reportCommand } from "./sweep.ts";
import { crash, failure, opening, summary } from "./report.ts";

/** Runs what the command line asked for, and prints it. Returns the exit code. */
export async function runCommand(args: RunArguments): Promise<number> {
  const seed = args.seed ?? defaultSeed;
  const scenario = adjusted(loadScenario(args.scenario), args);
  if (args.report) return report(scenario, seed, args);
  const broken = rulesWithout(args.breaks);
  if (!broken) throw new Error(`no rule ${args.breaks}`);
  let context: readonly string[] | undefined;
  const simulation = new Simulation({
    scenario,
    seed,
    own: broken.own,
    makeNode: (surroundings) => realNode(surroundings, broken.rules),
    makeRouter: realRouter,
    ...(args.trace ? { onTraceLine: (line: string) => void process.stdout.write(`${line}\n`) } : {}),
    onViolation: () => {
      context ??= [...simulation.trace.recent];
    },
    violationsMax: args.stopAfter,
  });
  process.stdout.write(opening(simulation, scenario, seed, args));
  const onCrash = (error: unknown): void => {
    process.stdout.write(crash(simulation, error, seed, args));
    process.exit(1);
  };
  process.on("uncaughtException", onCrash);
  process.on("unhandledRejection", onCrash);
  const began = performance.now();
  const progress = process.stdout.isTTY && !args.trace;
  await simulation.run(args.hours * 3_600_000, (nowMs) => {
    if (!progress) return;
    const speed = Math.round(nowMs / (performance.now() - began));
    process.stdout.write(
      `\r${(nowMs / 3_600_000).toFixed(2)} of ${args.hours} h, ${speed} × real time, violations: ${simulation.violations.length} `,
    );
  });
  if (progress) process.stdout.write("\r\x1b[K");
  if (context) process.stdout.write(failure(simulation, context, seed, args));
  process.stdout.write(summary(simulation, performance.now() - began));
  return simulation.violations.length > 0 ? 3 : 0;
}

function report(scenario: Scenario, seed: number, args: RunArguments): Promise<number> {
  if (scenario.repositories) return reportCommand(scenario, seed, args.hours);
  process.stderr.write(`sim: --report is for scenarios with repositories, and ${scenario.name} has none\n`);
  return Promise.resolve(2);
}

function adjusted(scenario: Scenario, args: RunArguments): Scenario {
  return {
    ...scenario,
    fleet: {
      ...scenario.fleet,
      nodes: args.nodes ?? scenario.fleet.nodes,
      shards: args.shards ?? scenario.fleet.shards,
      replicas: args.replicas ?? scenario.fleet.replicas,
    },
    workload: {
      ...scenario.workload,
      requestsPerSecond: args.requests ?? scenario.workload.requestsPerSecond,
    },
    faults: { ...scenario.faults, perMinute: args.faults ?? scenario.faults.perMinute },
  };
}

/** The same world whenever nobody asks for another: what the README shows is what a reader sees. */
const defaultSeed = 1;
