/**
 * Measures every contender several times, in turns, and gives the median of each figure: what a machine of somebody else's gives changes by a quarter within a
 * minute, and then whoever is measured at a good moment is ahead.
 */
import { median } from "../median.ts";
import type { Contender } from "./contenders.ts";
import { measureLifecycle, type JobsLoad, type Lifecycle } from "./measure.ts";

/** A peer that fails is tried again, and must not cost the figures of the others. */
const TRIES = 3;

export interface Measured extends Lifecycle {
  readonly lifecyclePerSecMin: number;
  readonly lifecyclePerSecMax: number;
}

export interface Rounds {
  readonly contenders: readonly Contender[];
  readonly load: JobsLoad;
  readonly rounds: number;
  readonly progress: (line: string) => void;
}

/** By name. An error stands for one that failed too often; it is not asked again. */
export async function measureInTurns({
  contenders,
  load,
  rounds,
  progress,
}: Rounds): Promise<ReadonlyMap<string, Measured | Error>> {
  const seen = new Map<string, Lifecycle[]>();
  const failed = new Map<string, Error>();
  for (let round = 1; round <= rounds; round += 1)
    for (const contender of contenders) {
      const { name } = contender;
      if (failed.has(name)) continue;
      // oxlint-disable-next-line no-await-in-loop -- one after the other is the point.
      const figures = await tryOften(contender, load, progress);
      if (figures instanceof Error) failed.set(name, figures);
      else {
        seen.set(name, [...(seen.get(name) ?? []), figures]);
        progress(`${name}, ${round} of ${rounds}: ${JSON.stringify(figures)}`);
      }
    }
  return new Map(
    contenders.map(({ name }) => [name, failed.get(name) ?? middleOf(seen.get(name) as Lifecycle[])]),
  );
}

async function tryOften(
  contender: Contender,
  load: JobsLoad,
  progress: Rounds["progress"],
): Promise<Lifecycle | Error> {
  for (let tries = 1; ; tries += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- until one succeeds.
      return await measure(contender, load);
    } catch (error) {
      const problem = error instanceof Error ? error : new Error(String(error));
      progress(`${contender.name} failed: ${problem.message}`);
      if (tries >= TRIES) return problem;
    }
  }
}

async function measure(contender: Contender, load: JobsLoad): Promise<Lifecycle> {
  const running = await contender.start();
  try {
    return await measureLifecycle(running, load);
  } finally {
    await running.stop();
  }
}

function middleOf(all: readonly Lifecycle[]): Measured {
  const middle = (figure: keyof Lifecycle): number => median(all.map((each) => each[figure]));
  const rates = all.map(({ lifecyclePerSec }) => lifecyclePerSec);
  return {
    lifecyclePerSec: middle("lifecyclePerSec"),
    lifecyclePerSecMin: Math.min(...rates),
    lifecyclePerSecMax: Math.max(...rates),
    startMsP50: middle("startMsP50"),
    startMsP99: middle("startMsP99"),
    cpuUsPerJob: middle("cpuUsPerJob"),
    serverCpuUsPerJob: middle("serverCpuUsPerJob"),
  };
}
