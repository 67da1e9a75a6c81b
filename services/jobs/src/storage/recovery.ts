/** Opens a shard: ends whoever wrote before, loads the checkpoint, replays the records since, and says in the manifest where records go from now on. */
import type { Clock, Epoch, Random } from "@keelson/kernel";
import { fenceStreams, readJournal, type JournalStream, type Objects } from "@keelson/objects";
import { Engine } from "../engine/engine.ts";
import type { EnginePorts, EngineTerms } from "../engine/model/ports.ts";
import { loadActive, type PageVersions } from "./active-pages.ts";
import { FinishedJobs } from "./finished/finished-jobs.ts";
import { decodeManifest, encodeManifest, MANIFEST_KEY, type Manifest, type Tail } from "./manifest.ts";
import type { NodeJournal } from "./node-journal.ts";
import type { Pages } from "./pages.ts";

const CALL_TIMEOUT_MS = 30_000;

export interface RecoveryOptions {
  /** Names the shard's stream in journals. */
  readonly shard: string;
  readonly epoch: Epoch;
  /** Opened by this tenure: earlier openers can write no more. */
  readonly pages: Pages;
  readonly journal: NodeJournal;
  readonly objects: Objects;
  readonly clock: Clock;
  readonly random: Random;
  readonly ports: Omit<EnginePorts, "random">;
  readonly terms: EngineTerms;
  /** Tenants that are the shard's; all when left out. */
  readonly keep?: ((tenant: string) => boolean) | undefined;
}

export interface Recovered {
  readonly engine: Engine;
  readonly manifest: Manifest;
  readonly versions: PageVersions;
  /** Keys of pages that count no more. */
  readonly stale: string[];
  readonly finished: FinishedJobs;
  readonly stream: JournalStream;
  readonly replayed: number;
}

export async function recover(options: RecoveryOptions): Promise<Recovered> {
  const { pages, journal, clock, random, ports, terms, shard, epoch } = options;
  const manifest = decodeManifest(await pages.get(MANIFEST_KEY));
  const stream = journal.stream(shard, epoch);
  await journal.journal.flush();
  await fenceOthers(options, manifest.tails);
  const engine = new Engine({ random, ...ports }, terms);
  const { versions, stale } = await loadActive(pages, manifest, engine, options.keep);
  const finished = await FinishedJobs.load(pages, manifest.runs, terms.retentionMs);
  let replayed = 0;
  // oxlint-disable-next-line no-await-in-loop -- tenures one after the other.
  for (const tail of manifest.tails) replayed += await replayTail(options, engine, tail);
  engine.start({ wallMs: clock.wall(), monoMs: clock.now() });
  const from = await stream.append(engine.mark(0)[0] as Buffer);
  await journal.need(shard, from);
  const opened: Manifest = {
    ...manifest,
    tails: [...manifest.tails, { journal: journal.name, epoch, from }],
  };
  await pages.write({ put: [{ key: MANIFEST_KEY, value: encodeManifest(opened) }], delete: [] });
  return { engine, manifest: opened, versions, stale, finished, stream, replayed };
}

/** Earlier tenures can acknowledge nothing more, so what is read afterwards is all there will be. */
async function fenceOthers(
  { journal, objects, clock, random, shard, epoch }: RecoveryOptions,
  tails: readonly Tail[],
): Promise<void> {
  const names = new Set(tails.map((tail) => tail.journal));
  // In the own journal the stream was opened under a higher epoch.
  names.delete(journal.name);
  for (const name of names)
    // oxlint-disable-next-line no-await-in-loop -- seldom more than one.
    await fenceStreams(objects, {
      name,
      streams: [{ stream: shard, epoch }],
      timeoutMs: CALL_TIMEOUT_MS,
      clock,
      random,
    });
}

async function replayTail(
  { objects, random, shard }: RecoveryOptions,
  engine: Engine,
  { journal: name, epoch, from, mark }: Tail,
): Promise<number> {
  let seen = mark === undefined;
  let replayed = 0;
  const batches = readJournal(objects, { name, stream: shard, from, timeoutMs: CALL_TIMEOUT_MS, random });
  for await (const { records } of batches)
    for (const { bytes, epoch: written } of records) {
      if (written.era !== epoch.era || written.revision !== epoch.revision) continue;
      if (seen) {
        engine.replay(bytes);
        replayed += 1;
      } else if (mark !== undefined) seen = engine.replay(bytes, { mark });
    }
  if (!seen)
    throw new Error(`journal ${name} does not hold the mark of checkpoint ${mark} of shard ${shard}`);
  return replayed;
}
