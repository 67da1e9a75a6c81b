/**
 * Places of limits granted a second: many jobs wait on few keys, each needs a place at three of them, and every place that is freed goes to a waiter. Every lease and
 * every completion is durable. What is held in the end, when nothing runs, was leaked.
 */
import { isRefusal, type JobSpec } from "@keelson/jobs";
import { openQueue } from "./queue-rig.ts";

export interface GrantsLoad {
  readonly waiters: number;
  readonly keys: number;
  readonly limitsPerJob: number;
  readonly tenants: number;
}

const LEASE = 500;
const BATCH = 5_000;
const NOTHING = Buffer.alloc(0);

export async function measureGrants(
  load: GrantsLoad,
): Promise<{ grantsPerSec: number; leakedHolders: number; grantCpuUs: number }> {
  const rig = await openQueue();
  const { queue } = rig;
  try {
    for (let from = 0; from < load.waiters; from += BATCH)
      await queue.execute({
        kind: "enqueue",
        jobs: Array.from({ length: Math.min(BATCH, load.waiters - from) }, (_, index) =>
          jobOf(from + index, load),
        ),
      });
    const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
    let done = 0;
    let idle = 0;
    while (done < load.waiters) {
      const leased = await queue.execute({ kind: "lease", group: "g", worker: "w", max: LEASE });
      if (isRefusal(leased)) throw new Error(leased.message);
      idle = leased.tasks.length === 0 ? idle + 1 : 0;
      if (idle > 100) throw new Error(`${done} of ${load.waiters} jobs ran, and no more can`);
      const reports = leased.tasks.map(({ task }) => ({
        task,
        outcome: { kind: "succeeded", result: NOTHING } as const,
      }));
      await queue.execute({ kind: "report", reports });
      done += reports.length;
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    let leakedHolders = 0;
    for (let tenant = 0; tenant < load.tenants; tenant += 1)
      for (const { held } of queue.queries.limits(`t${tenant}`)) leakedHolders += held;
    return {
      grantsPerSec: Math.round(load.waiters / seconds),
      leakedHolders,
      grantCpuUs: Math.round(((user + system) / load.waiters) * 10) / 10,
    };
  } finally {
    await rig.close();
  }
}

/** Keys are spread so that jobs overlap in all of them, in different orders. */
function jobOf(index: number, { keys, limitsPerJob, tenants }: GrantsLoad): JobSpec {
  const perTenant = Math.floor(keys / tenants);
  const limits = Array.from({ length: limitsPerJob }, (_, at) => ({
    kind: "concurrency" as const,
    key: `k${(index * 7 + at * (index % 3 === 0 ? 13 : 31)) % perTenant}`,
    max: 1,
  }));
  const distinct = limits.filter(({ key }, at) => limits.findIndex((each) => each.key === key) === at);
  return { id: `j${index}`, tenant: `t${index % tenants}`, group: "g", payload: NOTHING, limits: distinct };
}
