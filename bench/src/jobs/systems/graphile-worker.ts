/** graphile-worker on Postgres: jobs are added in bulk; the worker has its local queue and batched completion on, as its documentation advises for throughput. */
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import type { BenchPayload, BenchSystem } from "../system.ts";

const TASK = "bench";
/** It prints every job otherwise. */
const logger = new Logger(() => () => undefined);

export const graphileWorkerSystem: BenchSystem = {
  async setUp(connect) {
    const utils = await makeWorkerUtils({ connectionString: connect, maxPoolSize: 1, logger });
    await utils.migrate();
    await utils.release();
  },
  async producer(connect) {
    const utils = await makeWorkerUtils({ connectionString: connect, maxPoolSize: 10, logger });
    return {
      async add(jobs) {
        await utils.addJobs(jobs.map((payload) => ({ identifier: TASK, payload })));
      },
      close: async () => {
        await utils.release();
      },
    };
  },
  async worker(connect, concurrency, events) {
    const runner = await run({
      connectionString: connect,
      maxPoolSize: 10,
      noHandleSignals: true,
      logger,
      preset: {
        worker: {
          concurrentJobs: concurrency,
          pollInterval: 100,
          localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
          completeJobBatchDelay: 0,
        },
      },
      taskList: {
        [TASK]: (payload) => {
          events.started(payload as BenchPayload);
        },
      },
    });
    runner.events.on("job:complete", () => events.done(1));
    return { close: () => runner.stop() };
  },
};
