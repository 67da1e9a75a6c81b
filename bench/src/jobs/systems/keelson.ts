/** Ours, as a program outside the fleet uses it. */
import { connectJobs, type RunningJob } from "@keelson/jobs";
import type { BenchPayload, BenchSystem } from "../system.ts";

const GROUP = "bench";
const LOOK_MS = 5;
/** Tasks that may wait at a worker while others run; graphile-worker's local queue has as many. */
const PREFETCH = 500;

export const keelsonSystem: BenchSystem = {
  async producer(connect) {
    const client = await connectJobs({ nodes: connect.split(",") });
    return {
      async add(jobs) {
        for (const added of await client.enqueueBatch(jobs.map((payload) => ({ group: GROUP, payload }))))
          if (added instanceof Error) throw added;
      },
      close: () => client.close(),
    };
  },
  async worker(connect, concurrency, events) {
    const client = await connectJobs({ nodes: connect.split(",") });
    const handler = (job: RunningJob<BenchPayload>): void => events.started(job.payload);
    const worker = client.worker<BenchPayload, void>(GROUP, handler, { concurrency, prefetch: PREFETCH });
    let told = 0;
    const timer = setInterval(() => {
      const { completed } = worker;
      if (completed > told) events.done(completed - told);
      told = completed;
    }, LOOK_MS);
    return {
      async close() {
        clearInterval(timer);
        await client.close();
      },
    };
  },
};
