/**
 * The worker of the demo: it runs the demo's task groups for as long as `keelson up` runs, the way a program of a user's would, over the fleet's own wire. It
 * sleeps instead of working, and fails where a job asks for it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { connectJobs, type JobsClient, type RunningJob } from "@keelson/jobs";
import { DEMO_GROUPS, DEMO_TENANT, TRAFFIC_TASK, visitors, type DemoPayload } from "./demo-content.ts";

const STEPS = 4;
const CONCURRENCY = 4;
/** Whatever somebody types into the console's form. */
const TAKES_MS_MAX = 60_000;
const STOP_GRACE_MS = 500;

class DemoFailure extends Error {
  override readonly name = "DemoFailure";
  readonly code = "DEMO_FAILURE";
}

export interface DemoWorkerOptions {
  readonly fleet: string;
  /** Addresses of nodes. */
  readonly nodes: readonly string[];
  readonly onProblem: (problem: Error) => void;
}

export class DemoWorker {
  readonly #client: JobsClient;

  private constructor(client: JobsClient) {
    this.#client = client;
  }

  /** Resolves once it takes jobs. */
  static async start({ fleet, nodes, onProblem }: DemoWorkerOptions): Promise<DemoWorker> {
    const client = await connectJobs({ fleet, nodes, tenant: DEMO_TENANT });
    for (const group of DEMO_GROUPS)
      client.worker<DemoPayload>(group, (job) => work(job, client), {
        name: "demo-worker",
        concurrency: CONCURRENCY,
        onProblem,
      });
    return new DemoWorker(client);
  }

  /** Gives back what it has not finished. */
  stop(): Promise<void> {
    return this.#client.close({ graceMs: STOP_GRACE_MS });
  }
}

async function work(job: RunningJob<DemoPayload>, client: JobsClient): Promise<unknown> {
  const { task, takesMs, fails } = payloadOf(job.payload);
  for (let step = 1; step <= STEPS; step++) {
    await sleep(takesMs / STEPS, undefined, { signal: job.signal });
    job.progress({ percent: (100 * step) / STEPS });
  }
  if (fails === "always") throw new DemoFailure(`the demo wants it: ${task} fails every time`);
  if (fails === "once" && job.attempt === 1)
    throw new DemoFailure(`the demo wants it: ${task} fails the first time`);
  if (task !== TRAFFIC_TASK) return { done: task, attempt: job.attempt, tookMs: takesMs };
  const answers = await client.enqueueBatch(visitors(Date.now(), Math.random));
  const refused = answers.find((answer) => answer instanceof Error);
  if (refused !== undefined) throw refused;
  return { visitors: answers.length };
}

/** People enqueue by hand as well, with any payload. */
function payloadOf(payload: unknown): DemoPayload {
  const given = (typeof payload === "object" && payload !== null ? payload : {}) as Partial<DemoPayload>;
  const takesMs =
    typeof given.takesMs === "number" ? Math.min(Math.max(0, given.takesMs), TAKES_MS_MAX) : 200;
  const fails = given.fails === "once" || given.fails === "always" ? given.fails : undefined;
  const task = typeof given.task === "string" ? given.task.slice(0, 200) : "what somebody asked for";
  return { task, takesMs, ...(fails === undefined ? {} : { fails }) };
}
