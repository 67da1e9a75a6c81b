/** The job queue as one node runs it: shards on a ring, opened on the node's journal and on pages of their own. */
import type { Epoch } from "@keelson/kernel";
import { JournalError } from "@keelson/objects";
import { defineService, ring, type KeelsonNode, type NodeContext, type NodeService } from "@keelson/runtime";
import { cronAlgorithm } from "./cron/cron-algorithm.ts";
import type { Effect } from "./engine/index.ts";
import { rateAlgorithm } from "./gubernator/rate-algorithm.ts";
import { RemoteLimiter } from "./gubernator/remote-limiter.ts";
import { SERVICE } from "./client/shard-calls.ts";
import { Journals } from "./shard/journals.ts";
import { JobsShard } from "./shard/jobs-shard.ts";
import { isWithin, shardRange } from "./shard/ranges.ts";
import type { SplitPorts } from "./shard/splitting.ts";
import { copyThrough } from "./storage/copy-through.ts";
import { DurableQueue } from "./storage/durable-queue.ts";
import type { Manifest } from "./storage/manifest.ts";
import { MemoryPagesPlace } from "./storage/memory-pages.ts";
import type { NodeJournal } from "./storage/node-journal.ts";
import { pagePlace, prepareEnvironment } from "./storage/page-place.ts";
import type { Pages } from "./storage/pages.ts";

export interface JobsConfig {
  /** How many shards the service begins with. */
  readonly shards: number;
  /** Where pages lie when not beside the objects. */
  readonly pages: string;
  readonly leaseMs: number;
  readonly lostLeasesMax: number;
  readonly retentionMs: number;
  /** How long a write to the journal may take. */
  readonly journalTimeoutMs: number;
  /** A Gubernator to ask, `host:port`; empty: limits are checked here. */
  readonly gubernator: string;
}

const SPLIT_PAUSE_MS = 100;

export function jobsService(context: NodeContext<JobsConfig>): NodeService {
  const { config, objects, node, clock, random, log, metrics } = context;
  const { shards, leaseMs, lostLeasesMax, retentionMs } = config;
  const journals = new Journals({ objects, node, clock, random, flushTimeoutMs: config.journalTimeoutMs });
  const openPages = pageOpener(context);
  const place = pagePlace(objects, config.pages);
  const copyOf =
    (shard: string, pages: Pages, manifest: () => Manifest): SplitPorts["copy"] =>
    async (half) => {
      if (place?.kind === "folder") {
        const { copyPages } = await import("./storage/copy-pages.ts");
        return copyPages(place.folder, pagesName(shard), pagesName(half), manifest());
      }
      const copy = await openPages(half);
      try {
        await copyThrough(pages, copy, manifest());
      } finally {
        await copy.close();
      }
    };
  const held = new Map<string, JobsShard>();
  let self: KeelsonNode | undefined;
  const remote =
    config.gubernator === ""
      ? undefined
      : new RemoteLimiter(
          config.gubernator,
          () => clock.wall(),
          (problem) => log.warn({ cause: problem.message }, "Gubernator could not be asked"),
        );

  const open = async (shard: string, epoch: Epoch): Promise<JobsShard> => {
    const range = shardRange(shard, shards);
    if (range === undefined) throw new Error(`${shard} is no shard of a job queue that began with ${shards}`);
    const startedAt = clock.now();
    const journal = await writableJournal(epoch);
    const pages = await openPages(shard);
    let queue: DurableQueue;
    try {
      queue = await DurableQueue.open({
        shard,
        epoch,
        pages,
        journal,
        objects,
        clock,
        random: () => random(),
        rates: remote === undefined ? rateAlgorithm : undefined,
        cron: cronAlgorithm,
        terms: { leaseMs, lostLeasesMax, retentionMs },
        keep: (tenant) => isWithin(range, tenant),
      });
    } catch (error) {
      // Another's journal that cannot be read is the shard's trouble, and not that of all shards here.
      const { failure } = journal.journal;
      if (failure !== undefined) broken(shard, failure);
      await pages.close();
      throw error;
    }
    metrics.observe("jobs_shard_open_seconds", (clock.now() - startedAt) / 1_000);
    // One that is closed by now may hear of its end late.
    queue.onFailure = (error) => {
      if (held.get(shard)?.queue === queue) broken(shard, error);
    };
    const opened = new JobsShard({
      range,
      queue,
      clock,
      onEffects: (effects) => {
        count(effects);
        if (remote !== undefined) askRemote(remote, queue, effects);
      },
      onClose: () => held.delete(shard),
      split: self && {
        catalogue: self.catalogue(SERVICE),
        initialIds: Array.from({ length: shards }, (_, index) => String(index)),
        epoch,
        copy: copyOf(shard, pages, () => queue.manifest),
        pause: () => new Promise((resolve) => void clock.after(SPLIT_PAUSE_MS, resolve)),
        async release() {
          const names = new Set(queue.manifest.tails.map((tail) => tail.journal));
          await Promise.all([...names].map((name) => journal.release(name, shard)));
        },
        onKept: (error) =>
          log.error({ shard, cause: String(error) }, "journals are kept for a shard that was split"),
      },
    });
    held.set(shard, opened);
    return opened;
  };

  /** Written to before pages are opened: they may take minutes to say that nothing can be reached, and a shard that is not opened in time is blamed for it. */
  const writableJournal = async (epoch: Epoch): Promise<NodeJournal> => {
    try {
      const journal = await journals.open(epoch);
      await journal.tryOut(1);
      return journal;
    } catch (error) {
      broken(undefined, error);
      throw error;
    }
  };

  /** A fenced queue has a successor. Otherwise the journal is broken, and so are all shards here: others have to take them until it is mended. */
  const broken = (shard: string | undefined, error: unknown): void => {
    const isFenced = error instanceof JournalError && error.code === "JOURNAL_FENCED";
    if (!journals.isBroken) log.error({ shard, cause: String(error) }, "the queue of a shard has stopped");
    if (isFenced || journals.isBroken) return;
    log.error("the journal cannot be written: this node gives its shards of the job queue up until it can");
    self?.suspend(SERVICE, `the journal cannot be written: ${String(error)}`);
    void journals
      .mend((cause, againMs) =>
        log.warn({ cause: String(cause), againMs }, "the journal still cannot be written"),
      )
      .then((isMended) => {
        if (!isMended) return;
        log.warn("the journal can be written again: this node takes shards of the job queue");
        self?.resume(SERVICE);
      });
  };

  const count = (effects: readonly Effect[]): void => {
    const changes = new Map<string, number>();
    for (const effect of effects)
      if (effect.kind === "status")
        changes.set(effect.status, (changes.get(effect.status) ?? 0) + effect.ids.length);
    for (const [status, by] of changes) metrics.count("jobs_status_changes_total", { status }, by);
  };
  const total = (read: (shard: JobsShard) => number): number => {
    let sum = 0;
    for (const shard of held.values()) sum += read(shard);
    return sum;
  };
  metrics.gaugeFrom("jobs_scheduled", () => total(({ queue }) => queue.queries.stats().jobs.scheduled));
  metrics.gaugeFrom("jobs_running", () => total(({ queue }) => queue.queries.stats().jobs.running));
  metrics.gaugeFrom("jobs_worker_streams", () => total((shard) => shard.stats().load ?? 0));
  metrics.gaugeFrom("jobs_journal_bytes", () => total(({ queue }) => queue.stats.recordBytes));
  metrics.gaugeFrom("jobs_journal_broken", () => (journals.isBroken ? 1 : 0));
  metrics.gaugeFrom("jobs_checkpoint_failures", () => total(({ queue }) => queue.stats.checkpointFailures));

  return {
    ...defineService({
      name: SERVICE,
      parameters: { shards, replicas: 1, placement: {} },
      placement: ring({ service: SERVICE }),
      stabilisationMs: 0,
      catalogued: true,
      open: ({ shard, epoch }) => open(shard, epoch),
      attach: (node) => {
        self = node;
      },
    }),
    async stop() {
      // A node that was abandoned closed nothing.
      await Promise.all([...held.values()].map((shard) => shard.close()));
      await journals.close();
      remote?.close();
    },
  };
}

/** Every question gets its answer, or the job would wait for ever. */
function askRemote(remote: RemoteLimiter, queue: DurableQueue, effects: readonly Effect[]): void {
  for (const effect of effects) {
    if (effect.kind !== "checkRate") continue;
    const { check, limits } = effect;
    void remote
      .check(limits)
      .then((verdict) => queue.execute({ kind: "rateChecked", check, ...verdict }))
      // The queue has stopped: whoever opens the shard next asks anew.
      .catch(() => undefined);
  }
}

/** SlateDB is loaded only where there is a place for it. */
function pageOpener({ objects, config }: NodeContext<JobsConfig>): (shard: string) => Promise<Pages> {
  const place = pagePlace(objects, config.pages);
  if (place === undefined) {
    const places = new Map<string, MemoryPagesPlace>();
    return (shard) => {
      const found = places.get(shard) ?? new MemoryPagesPlace();
      places.set(shard, found);
      return Promise.resolve(found.open());
    };
  }
  prepareEnvironment(place, process.env);
  return async (shard) => {
    const { SlatePages } = await import("./storage/slate-pages.ts");
    return SlatePages.open({ place, name: pagesName(shard) });
  };
}

function pagesName(shard: string): string {
  return `shard-${shard}`;
}
