/**
 * What a tenant loses when another one enqueues a million jobs: a tenant that offers 30 % of what the workers can do is served alone first, then beside the
 * backlog. Jobs take a fixed time and workers have a fixed number of places, so capacity is known.
 */
import { isRefusal } from "@keelson/jobs";
import type { DurableQueue } from "@keelson/jobs/storage";
import { openQueue } from "./queue-rig.ts";

export interface NoisyLoad {
  readonly backlog: number;
  readonly places: number;
  readonly jobMs: number;
  readonly seconds: number;
}

const NOTHING = Buffer.alloc(0);
const BATCH = 10_000;
const TICK_MS = 5;
const SHARE = 0.3;

export async function measureNoisy(
  load: NoisyLoad,
): Promise<{ noisyLossPercent: number; quietPerSec: number; besidePerSec: number }> {
  const rig = await openQueue();
  const { queue } = rig;
  try {
    const alone = await served(queue, load, "alone");
    for (let from = 0; from < load.backlog; from += BATCH)
      await queue.execute({
        kind: "enqueue",
        jobs: Array.from({ length: BATCH }, (_, index) => ({
          id: `n${from + index}`,
          tenant: "noisy",
          group: "g",
          payload: NOTHING,
        })),
      });
    const beside = await served(queue, load, "beside");
    const lost = Math.max(0, (alone - beside) / alone) * 100;
    return {
      noisyLossPercent: Math.round(lost * 10) / 10,
      quietPerSec: Math.round(alone),
      besidePerSec: Math.round(beside),
    };
  } finally {
    await rig.close();
  }
}

/** Completions of the quiet tenant a second, while it offers its share. */
async function served(
  queue: DurableQueue,
  { places, jobMs, seconds }: NoisyLoad,
  phase: string,
): Promise<number> {
  const perSec = (places * 1_000 * SHARE) / jobMs;
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1_000;
  let [offered, completed, free] = [0, 0, places];
  const finish = async (task: number, tenant: string): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, jobMs));
    await queue.execute({
      kind: "report",
      reports: [{ task, outcome: { kind: "succeeded", result: NOTHING } }],
    });
    free += 1;
    if (tenant === "quiet" && performance.now() <= endAt) completed += 1;
  };
  const running = new Set<Promise<void>>();
  while (performance.now() < endAt) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSec);
    if (due > offered) {
      const jobs = Array.from({ length: due - offered }, (_, index) => ({
        id: `${phase}${offered + index}`,
        tenant: "quiet",
        group: "g",
        payload: NOTHING,
      }));
      offered = due;
      await queue.execute({ kind: "enqueue", jobs });
    }
    const leased = await queue.execute({ kind: "lease", group: "g", worker: "w", max: Math.max(1, free) });
    if (isRefusal(leased)) throw new Error(leased.message);
    for (const { task, spec } of leased.tasks) {
      free -= 1;
      const one: Promise<void> = finish(task, spec.tenant).finally(() => running.delete(one));
      running.add(one);
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(running);
  return completed / seconds;
}
