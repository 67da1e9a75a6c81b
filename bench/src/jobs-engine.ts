/**
 * The engine of the job queue alone, and the packing of what goes between clients, shard and workers: what a lifecycle costs before any network, disk or other
 * process. Rounds are short and the best of many counts, so that it says the same on a busy machine.
 */
import { parseArgs } from "node:util";
import { Engine, isRefusal, type JobSpec } from "@keelson/jobs";
import {
  cronAlgorithm,
  packJobs,
  packReports,
  packTasks,
  rateAlgorithm,
  unpackJobs,
  unpackReports,
  unpackTasks,
} from "@keelson/jobs/storage";
import type { Bench } from "./bench.ts";
import { wholeNumber } from "./options.ts";

const BATCH = 100;
const ROUND_JOBS = 5_000;
const RESULT = Buffer.from([0xc0]);

const jobsEngine: Bench = {
  name: "jobs-engine",
  title: "the engine of the job queue alone: CPU of a lifecycle, and what a waiting job takes of memory",
  run({ args, progress }) {
    const { values } = parseArgs({
      args: [...args],
      options: { rounds: { type: "string", default: "100" }, bytes: { type: "string", default: "240" } },
    });
    const rounds = wholeNumber("rounds", values.rounds, 1, 10_000);
    const payload = Buffer.alloc(wholeNumber("bytes", values.bytes, 0, 100_000), 7);
    const meter = new Meter();
    const engine = startedEngine();
    let [recordBytes, cpu] = [0, Infinity];
    for (let round = 0; round < rounds; round += 1) {
      const before = process.cpuUsage();
      recordBytes = lifecycles(engine, round, payload, meter);
      const { user, system } = process.cpuUsage(before);
      cpu = Math.min(cpu, user + system);
      meter.next();
    }
    const figures = {
      cpuUs: cpu / ROUND_JOBS,
      ...meter.best(ROUND_JOBS),
      recordBytes: recordBytes / ROUND_JOBS,
    };
    progress(`${rounds} rounds of ${ROUND_JOBS} jobs`);
    return Promise.resolve({ figures: rounded(figures), peers: {} });
  },
};

export default jobsEngine;

function startedEngine(): Engine {
  const engine = new Engine({ random: Math.random, rates: rateAlgorithm, cron: cronAlgorithm });
  engine.start({ wallMs: Date.now(), monoMs: performance.now() });
  return engine;
}

/** Every job from its enqueue to its end, in batches; what ended leaves memory, as after a checkpoint. Gives the bytes of their records. */
function lifecycles(engine: Engine, round: number, payload: Buffer, meter: Meter): number {
  let bytes = 0;
  const count = (records: readonly Buffer[]): void => records.forEach(({ length }) => (bytes += length));
  const now = { wallMs: Date.now(), monoMs: performance.now() };
  for (let from = 0; from < ROUND_JOBS; from += BATCH) {
    const jobs: JobSpec[] = Array.from({ length: BATCH }, (_, index) => ({
      id: `${round.toString(16).padStart(8, "0")}-0000-7000-8000-${(from + index).toString(16).padStart(12, "0")}`,
      tenant: "-",
      group: "bench",
      payload,
    }));
    const add = meter.time("packJobsUs", () => packJobs(jobs));
    const unpacked = meter.time("unpackJobsUs", () => unpackJobs(add));
    count(meter.time("addUs", () => engine.apply({ kind: "add", jobs: unpacked }, now)).records);
    const command = { kind: "take", group: "bench", worker: "w", max: BATCH } as const;
    const { records, answer } = meter.time("takeUs", () => engine.apply(command, now));
    count(records);
    if (isRefusal(answer)) throw new Error(answer.message);
    const blocks = meter.time("packTasksUs", () => [...packTasks(answer.taken)]);
    const tasks = meter.time("unpackTasksUs", () => blocks.flatMap((block) => unpackTasks(block)));
    const outcome = { kind: "succeeded", result: RESULT } as const;
    const done = tasks.map(({ task }) => ({ task, outcome }));
    const packed = meter.time("packReportsUs", () => packReports(done));
    const reports = meter.time("unpackReportsUs", () => unpackReports(packed));
    count(meter.time("ackUs", () => engine.apply({ kind: "ack", worker: "w", reports }, now)).records);
  }
  for (const job of engine.state.finished) engine.state.drop(job);
  return bytes;
}

/** The time of each part, summed over a round, and the least of all rounds. */
class Meter {
  readonly #round = new Map<string, number>();
  readonly #best = new Map<string, number>();

  time<T>(part: string, run: () => T): T {
    const startedAt = performance.now();
    const result = run();
    this.#round.set(part, (this.#round.get(part) ?? 0) + performance.now() - startedAt);
    return result;
  }

  next(): void {
    for (const [part, ms] of this.#round)
      this.#best.set(part, Math.min(ms, this.#best.get(part) ?? Infinity));
    this.#round.clear();
  }

  best(jobs: number): Record<string, number> {
    return Object.fromEntries(Array.from(this.#best, ([part, ms]) => [part, (ms * 1_000) / jobs]));
  }
}

function rounded(figures: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Math.round(value * 100) / 100]),
  );
}
