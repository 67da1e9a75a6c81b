/** One shard's durable queue on a folder of its own, without network or fleet: for what only the scheduler and the journal decide. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DurableQueue, NodeJournal, SlatePages, cronAlgorithm, rateAlgorithm } from "@keelson/jobs/storage";
import { openObjects } from "@keelson/objects";
import { SystemClock, systemRandom } from "@keelson/runtime";

export interface QueueRig {
  readonly queue: DurableQueue;
  close(): Promise<void>;
}

export async function openQueue(): Promise<QueueRig> {
  const folder = mkdtempSync(join(tmpdir(), "keelson-bench-queue-"));
  const [clock, random, epoch] = [new SystemClock(), systemRandom, { era: 1, revision: 1 }];
  const objects = await openObjects(`file:${folder}`, { clock, random, environment: {} });
  const journal = await NodeJournal.open({ objects, name: "node/bench", epoch, clock, random });
  const pages = await SlatePages.open({
    place: { kind: "folder", folder: join(folder, "pages") },
    name: "shard-0",
  });
  const queue = await DurableQueue.open({
    shard: "0",
    epoch,
    pages,
    journal,
    objects,
    clock,
    random,
    rates: rateAlgorithm,
    cron: cronAlgorithm,
  });
  return {
    queue,
    async close() {
      await queue.close();
      await journal.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
