/**
 * A job queue as the bench drives it, ours or a peer's: a producer that adds jobs and a worker that runs them, each in processes of their own. What a system
 * acknowledges counts, and nothing else: `add` resolves when the jobs are as durable as the system makes them, `done` is told after a completion was acknowledged.
 */

/** What every job carries: when it was added, and padding. */
export interface BenchPayload {
  /** Wall clock with fractions of a millisecond. */
  readonly addedAtMs: number;
  readonly padding: string;
}

interface Producer {
  add(jobs: readonly BenchPayload[]): Promise<void>;
  close(): Promise<void>;
}

interface WorkerSide {
  close(): Promise<void>;
}

interface WorkerEvents {
  /** A handler began. */
  started(payload: BenchPayload): void;
  /** So many completions were acknowledged. */
  done(count: number): void;
}

export interface BenchSystem {
  /** What must be there before several processes begin at once: tables, queues. Called once, by whoever started the server. */
  setUp?(connect: string): Promise<void>;
  producer(connect: string): Promise<Producer>;
  worker(connect: string, concurrency: number, events: WorkerEvents): Promise<WorkerSide>;
}

export type SystemName = "keelson" | "bullmq" | "pgBoss" | "graphileWorker";

/** Only what is measured is loaded. */
export async function loadSystem(name: SystemName): Promise<BenchSystem> {
  switch (name) {
    case "keelson":
      return (await import("./systems/keelson.ts")).keelsonSystem;
    case "bullmq":
      return (await import("./systems/bullmq.ts")).bullmqSystem;
    case "pgBoss":
      return (await import("./systems/pg-boss.ts")).pgBossSystem;
    case "graphileWorker":
      return (await import("./systems/graphile-worker.ts")).graphileWorkerSystem;
  }
}

/** The same clock in every process of one machine, finer than Date.now(). */
export function wallMs(): number {
  return performance.timeOrigin + performance.now();
}
