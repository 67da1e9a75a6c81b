/** `npm run sim -- --scenario jobs`: the engine of the job queue over many seeds, or one of them again. It has no fleet, so it has flags of its own. */
import { JOBS_BREAKS, runSeed, runSeeds, type JobsBreak, type RunReport } from "@keelson/jobs/sim";

export interface JobsRequest {
  readonly seeds: number;
  /** The first one, or with no `--seeds` the only one. */
  readonly seed: number;
  /** A rule to do without, to see that it is missed. */
  readonly broken?: JobsBreak;
}

const FLAGS = ["--scenario", "--seeds", "--seed", "--break"];
const SEEDS_DEFAULT = 1000;
const CHUNK_SEEDS = 250;
const FAILURES_MAX = 10;

/** Undefined when another scenario is meant; a text when something is wrong. */
export function readJobsArguments(args: readonly string[]): JobsRequest | string | undefined {
  const given = new Map<string, string>();
  const words = args.flatMap((arg) => arg.split(/=(.*)/s).filter((part) => part !== ""));
  for (let at = 0; at < words.length; at += 2) given.set(words[at] as string, words[at + 1] ?? "");
  if (given.get("--scenario") !== "jobs") return undefined;
  for (const flag of given.keys())
    if (!FLAGS.includes(flag))
      return `the scenario jobs does not know "${flag}": it takes --seeds <n>, --seed <n> and --break <rule>`;
  const seed = number(given.get("--seed"), 1);
  const seeds = number(given.get("--seeds"), given.has("--seed") ? 1 : SEEDS_DEFAULT);
  if (seed === undefined || seeds === undefined || seeds === 0)
    return "--seeds and --seed need whole numbers";
  const broken = given.get("--break");
  if (broken === undefined) return { seed, seeds };
  if (!Object.hasOwn(JOBS_BREAKS, broken))
    return `the scenario jobs has no rule "${broken}" to break: it has ${Object.keys(JOBS_BREAKS).join(", ")}`;
  return { seed, seeds, broken: broken as JobsBreak };
}

function number(text: string | undefined, otherwise: number): number | undefined {
  if (text === undefined) return otherwise;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Returns the exit code: 3 when a promise was broken. */
export function runJobs({ seed, seeds, broken }: JobsRequest, write: (text: string) => void): number {
  write(`scenario jobs: seeds ${seed} to ${seed + seeds - 1}\n`);
  if (broken !== undefined) write(`without the rule ${broken}: ${JOBS_BREAKS[broken]}\n`);
  if (seeds === 1) write(`knobs: ${JSON.stringify(runSeed(seed, broken).knobs)}\n`);
  const sum = { seeds: 0, jobs: 0, grants: 0, crashes: 0, checkpoints: 0, applies: 0 };
  const failed: RunReport[] = [];
  for (let next = seed; next < seed + seeds && failed.length < FAILURES_MAX; next += CHUNK_SEEDS) {
    const report = runSeeds(next, Math.min(CHUNK_SEEDS, seed + seeds - next), FAILURES_MAX, broken);
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += report[key];
    failed.push(...report.failed);
    if (process.stdout.isTTY) write(`\r${sum.seeds} of ${seeds} seeds, violations in ${failed.length} `);
  }
  if (process.stdout.isTTY) write("\r\x1b[K");
  for (const { seed: bad, violations } of failed) {
    const flag = broken === undefined ? "" : ` --break ${broken}`;
    write(`seed ${bad}: npm run sim -- --scenario jobs --seed ${bad}${flag}\n`);
    for (const violation of violations) write(`  ${violation}\n`);
  }
  write(
    `seeds: ${sum.seeds}, jobs ${sum.jobs}, grants ${sum.grants}, commands ${sum.applies}, crashes ${sum.crashes}, checkpoints ${sum.checkpoints}\n`,
  );
  const violations = failed.reduce((count, each) => count + each.violations.length, 0);
  write(`violations: ${violations}\n`);
  return violations > 0 ? 3 : 0;
}
