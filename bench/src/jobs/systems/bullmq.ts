/** BullMQ on Redis: jobs are added in bulk and removed once completed, as its documentation advises for throughput; workers have high concurrency. */
import { Queue, Worker } from "bullmq";
import type { BenchPayload, BenchSystem } from "../system.ts";

const QUEUE = "bench";

export const bullmqSystem: BenchSystem = {
  async producer(connect) {
    const queue = new Queue(QUEUE, { connection: connection(connect) });
    await queue.waitUntilReady();
    return {
      async add(jobs) {
        await queue.addBulk(jobs.map((data) => ({ name: "job", data, opts: { removeOnComplete: true } })));
      },
      close: () => queue.close(),
    };
  },
  async worker(connect, concurrency, events) {
    const worker = new Worker(
      QUEUE,
      (job) => {
        events.started(job.data as BenchPayload);
        return Promise.resolve();
      },
      { connection: connection(connect), concurrency, removeOnComplete: { count: 0 } },
    );
    worker.on("completed", () => events.done(1));
    worker.on("error", (error) => process.stderr.write(`${String(error)}\n`));
    await worker.waitUntilReady();
    return { close: () => worker.close() };
  },
};

function connection(url: string): { host: string; port: number; maxRetriesPerRequest: null } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port), maxRetriesPerRequest: null };
}
