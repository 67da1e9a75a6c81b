/**
 * Takes checkpoints of a queue while it goes on: everything is of the moment of a mark in the journal. The manifest is written last; before that nothing of the
 * checkpoint counts, afterwards all of it does, finished jobs leave memory, and older records are not needed any more.
 */
import { encodeJobPage } from "../engine/checkpoint/job-page.ts";
import { encodeRest } from "../engine/checkpoint/rest.ts";
import type { Engine } from "../engine/engine.ts";
import type { Job } from "../engine/state/job.ts";
import { jobKey } from "../engine/state/state.ts";
import {
  activeKey,
  activeKeys,
  leftRest,
  restEntries,
  restKeys,
  type PageVersion,
  type PageVersions,
} from "./active-pages.ts";
import type { Commits } from "./commits.ts";
import type { FinishedJobs } from "./finished/finished-jobs.ts";
import { leftRuns } from "./finished/left-runs.ts";
import type { Run } from "./finished/run.ts";
import { encodeManifest, MANIFEST_KEY, type Manifest, type Tail } from "./manifest.ts";
import type { PageEntry, Pages } from "./pages.ts";

const WRITE_BYTES = 2 * 1024 * 1024;
/** Encoded in one turn of the event loop: a few milliseconds. */
const TURN_PAGES = 8;
/** The same for jobs that leave memory. */
const TURN_EVICTED = 2_000;
const DELETE_KEYS = 1000;

export interface CheckpointerOptions {
  readonly engine: Engine;
  readonly pages: Pages;
  readonly commits: Commits;
  readonly finished: FinishedJobs;
  readonly manifest: Manifest;
  readonly versions: PageVersions;
  readonly stale: string[];
  /** Where records go. */
  readonly tail: Pick<Tail, "journal" | "epoch">;
  readonly wallMs: () => number;
  /** Lets others have a turn. */
  readonly pause: () => Promise<void>;
  /** Jobs left memory: whoever looked for one before must look again. */
  readonly onEvict: () => void;
  /** Everything before the sequence is safe elsewhere, and these journals are not named any more. */
  readonly onPassed: (from: number, released: readonly string[]) => Promise<void>;
}

interface WrittenPage {
  readonly page: number;
  readonly parts: number;
  readonly isEmpty: boolean;
}

export class Checkpointer {
  readonly #options: CheckpointerOptions;
  #manifest: Manifest;
  #stale: string[];
  #running: Promise<void> | undefined;
  /** The last number that was tried: each try has one of its own, because one that failed may have left pages, and its mark is in the journal. */
  #number: number;
  /** Keys that a try or a merge wrote which failed; undefined when none did. Whether its manifest was stored nobody knows. */
  #failed: string[] | undefined;
  /** What earlier tenures left is known. */
  #swept = false;
  /** `Commits.bytes` at the last one. */
  bytesAtLast = 0;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
    this.#manifest = options.manifest;
    this.#stale = options.stale;
    this.#number = options.manifest.checkpoint;
  }

  get manifest(): Manifest {
    return this.#manifest;
  }

  get running(): boolean {
    return this.#running !== undefined;
  }

  /** One at a time; a second call waits for the first and is done with it. */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #run(): Promise<void> {
    const { engine } = this.#options;
    await this.#clear();
    const keys: string[] = [];
    try {
      await this.#take(++this.#number, keys);
    } catch (error) {
      // What was handed over is not stored; the next checkpoint writes it again.
      engine.state.pages.markAllDirty(this.#options.versions.keys());
      // What failed after its manifest was stored has not failed: its pages are those that count.
      if (this.#manifest.checkpoint !== this.#number) this.#failed = keys;
      throw error;
    }
    await this.#tidyRuns();
    await this.#deleteStale();
  }

  /** Nothing that an earlier try left, here or in another tenure, may be in the way: it could be taken for what the next one writes, or be deleted with it. */
  async #clear(): Promise<void> {
    const { pages, finished } = this.#options;
    if (!this.#swept) {
      // One by one: as arguments of one call, those of a large run would not fit on the stack.
      for (const key of await leftRuns(pages, this.#manifest, finished)) this.#stale.push(key);
      for (const key of await leftRest(pages, this.#manifest)) this.#stale.push(key);
      this.#swept = true;
    }
    const failed = this.#failed;
    if (failed !== undefined) {
      // The one before counts again, if it ever did not.
      await this.#commit(this.#manifest);
      for (const key of failed) this.#stale.push(key);
      this.#failed = undefined;
    }
    await this.#deleteStale();
  }

  async #take(number: number, keys: string[]): Promise<void> {
    const { engine, commits, finished, versions, tail } = this.#options;
    const { state } = engine;
    // Of one moment, in one turn: the mark, the rest, the lists of jobs, and the promise of pages.
    const [mark] = engine.mark(number);
    const marked = commits.append(mark as Buffer);
    // If writing fails first, nobody else looks at this; the queue hears of it by itself.
    marked.catch(() => {});
    this.bytesAtLast = commits.bytes;
    const rest = restEntries(number, encodeRest(state));
    const ended = [...state.finished];
    const forgotten = Array.from(state.forgotten.entries());
    const written = await this.#writeActive(number, keys);
    for (const { key } of rest) keys.push(key);
    const run =
      ended.length + forgotten.length === 0
        ? undefined
        : await finished.write(
            number,
            ended,
            forgotten.map(([, name]) => name),
            { onKey: (key) => keys.push(key), pause: this.#options.pause },
          );
    const from = await marked;
    const released = this.#manifest.tails
      .map(({ journal }) => journal)
      .filter((each) => each !== tail.journal);
    const old = this.#manifest;
    for (const each of rest.slice(0, -1)) await this.#write([each]);
    await this.#commit(
      {
        version: 1,
        checkpoint: number,
        restChunks: rest.length,
        runs: run === undefined ? finished.runIds : [...finished.runIds, run.id],
        tails: [{ ...tail, from, mark: number }],
      },
      rest.slice(-1),
    );
    if (run !== undefined) finished.adopt(run);
    for (const { page, parts, isEmpty } of written)
      this.#supersede(versions, page, { checkpoint: number, parts }, isEmpty);
    this.#stale.push(...restKeys(old));
    for (const [key, name] of forgotten) if (state.forgotten.get(key) === name) state.forgotten.delete(key);
    await this.#evict(ended);
    await this.#options.onPassed(from, released);
  }

  /** Writes pages while more are encoded, so that memory holds only a few. */
  async #writeActive(number: number, keys: string[]): Promise<WrittenPage[]> {
    const { engine, pause } = this.#options;
    const { pages } = engine.state;
    const written: WrittenPage[] = [];
    let waiting: PageEntry[] = [];
    let bytes = 0;
    pages.beginHandOver((page) => {
      const parts = encodeJobPage(page);
      for (const [part, value] of parts.entries()) {
        const key = activeKey(page.number, number, part);
        waiting.push({ key, value });
        keys.push(key);
        bytes += value.length;
      }
      written.push({ page: page.number, parts: parts.length, isEmpty: page.size === 0 });
    });
    for (let done = false; !done;) {
      for (let turn = 0; turn < TURN_PAGES && bytes < WRITE_BYTES && !done; turn++)
        done = pages.handOverSome(1);
      if (bytes >= WRITE_BYTES || done) {
        const put = waiting;
        waiting = [];
        bytes = 0;
        // oxlint-disable-next-line no-await-in-loop -- as pages are encoded.
        for (const some of batchesOf(put)) await this.#write(some);
        done &&= waiting.length === 0;
      } else
        // oxlint-disable-next-line no-await-in-loop -- commands have their turn.
        await pause();
    }
    return written;
  }

  #supersede(versions: PageVersions, page: number, version: PageVersion, isEmpty: boolean): void {
    const old = versions.get(page);
    if (old !== undefined) this.#stale.push(...activeKeys(page, old));
    if (isEmpty) {
      versions.delete(page);
      this.#stale.push(...activeKeys(page, version));
    } else versions.set(page, version);
  }

  /**
   * Takes out of memory what was written, in turns: until then jobs are in both places, and memory counts. A job that was restarted since is among the forgotten, even if it
   * ended again in the same millisecond.
   */
  async #evict(ended: readonly Job[]): Promise<void> {
    const { engine, onEvict, pause } = this.#options;
    const { state } = engine;
    for (let at = 0; at < ended.length; at += TURN_EVICTED) {
      // oxlint-disable-next-line no-await-in-loop -- commands have their turn.
      if (at > 0) await pause();
      for (const job of ended.slice(at, at + TURN_EVICTED)) {
        const key = jobKey({ tenant: job.tenant.name, id: job.id });
        if (state.finished.has(job) && !state.forgotten.has(key)) state.drop(job);
      }
      onEvict();
    }
  }

  /** Forgets runs that have expired, and merges runs while there are too many. */
  async #tidyRuns(): Promise<void> {
    const { finished, wallMs } = this.#options;
    const expired = finished.expired(wallMs());
    if (expired.length > 0) await this.#replace(expired, undefined);
    for (let runs = finished.mergeable(); runs !== undefined; runs = finished.mergeable()) {
      const keys: string[] = [];
      try {
        // oxlint-disable-next-line no-await-in-loop -- one after the other.
        await this.#replace(runs, await finished.merge(runs, wallMs(), (key) => keys.push(key)));
      } catch (error) {
        this.#failed = keys;
        throw error;
      }
    }
  }

  async #replace(runs: readonly Run[], merged: Run | undefined): Promise<void> {
    const { finished } = this.#options;
    const gone = new Set(runs.map(({ id }) => id));
    const ids = finished.runIds.flatMap((id) => (gone.has(id) ? [] : [id]));
    if (merged !== undefined)
      ids.splice(
        finished.runIds.findIndex((id) => gone.has(id)),
        0,
        merged.id,
      );
    await this.#commit({ ...this.#manifest, runs: ids });
    finished.replace(runs, merged);
    for (const run of runs) for (const key of run.keys()) this.#stale.push(key);
  }

  /** In one step with what it names last. */
  async #commit(manifest: Manifest, last: readonly PageEntry[] = []): Promise<void> {
    await this.#options.pages.write({
      put: [...last, { key: MANIFEST_KEY, value: encodeManifest(manifest) }],
      delete: [],
    });
    this.#manifest = manifest;
  }

  /** Durable with the manifest that names them. */
  async #write(put: readonly PageEntry[]): Promise<void> {
    await this.#options.pages.write({ put, delete: [], durable: false });
  }

  async #deleteStale(): Promise<void> {
    while (this.#stale.length > 0) {
      const keys = this.#stale.slice(0, DELETE_KEYS);
      // Nobody reads them, so it does no harm when some are there again after a crash: whoever opens the shard looks for them.
      // oxlint-disable-next-line no-await-in-loop -- bounded batches.
      await this.#options.pages.write({ put: [], delete: keys, durable: false });
      this.#stale.splice(0, keys.length);
    }
  }
}

/** Each about as large as one write should be. */
function* batchesOf(entries: readonly PageEntry[]): Generator<readonly PageEntry[]> {
  let some: PageEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    some.push(entry);
    bytes += entry.value.length;
    if (bytes < WRITE_BYTES) continue;
    yield some;
    some = [];
    bytes = 0;
  }
  if (some.length > 0) yield some;
}
