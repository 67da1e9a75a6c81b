/** One shard's durable queue on a folder, without network or fleet: for what only the scheduler, the journal and the pages decide. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DurableQueue,
  NodeJournal,
  SlatePages,
  cronAlgorithm,
  rateAlgorithm,
  type DurableQueueOptions,
} from "@keelson/jobs/storage";
import { openObjects } from "@keelson/objects";
import { SystemClock, systemRandom } from "@keelson/runtime";

export interface QueueRig {
  readonly queue: DurableQueue;
  close(): Promise<void>;
}

interface QueueRigOptions {
  /** Stays when the queue is closed; a folder of its own, which goes then, when left out. */
  readonly folder?: string;
  /** Rises with every opening of a folder. */
  readonly revision?: number;
  readonly queueTerms?: DurableQueueOptions["queueTerms"];
}

const SHARD = "0";

export async function openQueue({
  folder,
  revision = 1,
  queueTerms,
}: QueueRigOptions = {}): Promise<QueueRig> {
  const at = folder ?? mkdtempSync(join(tmpdir(), "keelson-bench-queue-"));
  const [clock, random, epoch] = [new SystemClock(), systemRandom, { era: 1, revision }];
  const objects = await openObjects(`file:${at}`, { clock, random, environment: {} });
  const journal = await NodeJournal.open({ objects, name: "node/bench", epoch, clock, random });
  const queue = await DurableQueue.open({
    shard: SHARD,
    epoch,
    pages: await openPages(at),
    journal,
    objects,
    clock,
    random,
    rates: rateAlgorithm,
    cron: cronAlgorithm,
    queueTerms,
  });
  return {
    queue,
    async close() {
      await queue.close();
      await journal.close();
      if (folder === undefined) rmSync(at, { recursive: true, force: true });
    },
  };
}

/** The pages alone, while no queue has them. */
export function openPages(folder: string): Promise<SlatePages> {
  return SlatePages.open({
    place: { kind: "folder", folder: join(folder, "pages") },
    name: `shard-${SHARD}`,
  });
}
