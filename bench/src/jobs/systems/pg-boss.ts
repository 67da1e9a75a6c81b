/** pg-boss on Postgres: jobs are inserted in bulk and fetched in batches of a hundred by several pollers at its shortest interval. */
import PgBoss from "pg-boss";
import type { BenchPayload, BenchSystem } from "../system.ts";

const QUEUE = "bench";
const BATCH = 100;
/** The least that it takes, in seconds. */
const POLL_SECONDS = 0.5;
const LOOK_MS = 20;

export const pgBossSystem: BenchSystem = {
  /** Two that create one queue at the same time deadlock in Postgres. */
  async setUp(connect) {
    const boss = await start(connect);
    await boss.createQueue(QUEUE);
    await boss.stop({ graceful: false });
  },
  async producer(connect) {
    const boss = await start(connect);
    return {
      async add(jobs) {
        await boss.insert(jobs.map((data) => ({ name: QUEUE, data })));
      },
      close: () => boss.stop({ graceful: false }),
    };
  },
  async worker(connect, concurrency, events) {
    const boss = await start(connect);
    let closed = false;
    const poll = async (): Promise<void> => {
      while (!closed) {
        const jobs = await boss.fetch<BenchPayload>(QUEUE, { batchSize: BATCH });
        for (const { data } of jobs) events.started(data);
        if (jobs.length > 0) {
          await boss.complete(
            QUEUE,
            jobs.map(({ id }) => id),
          );
          events.done(jobs.length);
        } else await new Promise((resolve) => setTimeout(resolve, Math.min(LOOK_MS, POLL_SECONDS * 1_000)));
      }
    };
    const pollers = Array.from({ length: Math.max(1, Math.min(4, Math.floor(concurrency / BATCH))) }, poll);
    return {
      async close() {
        closed = true;
        await Promise.all(pollers);
        await boss.stop({ graceful: false });
      },
    };
  },
};

async function start(connect: string): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: connect, max: 10, supervise: false, schedule: false });
  boss.on("error", (error) => process.stderr.write(`${String(error)}\n`));
  await boss.start();
  return boss;
}
