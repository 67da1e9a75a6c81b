/**
 * All finished jobs of a shard that have left memory: runs, newest last. A job is looked up in the newest run first; a filter in memory keeps most questions
 * about jobs that do not exist from being asked. Runs of one level are merged when there are sixteen, so there are few, whatever the number of jobs.
 */
import { writeEndedJob, type StoredJob } from "../../engine/codec/stored-job.ts";
import type { JobName } from "../../engine/model/command.ts";
import { isFinal, type JobStatus } from "../../engine/model/views.ts";
import { decodeBody } from "../../engine/codec/body.ts";
import { mergePages, type ListCursor, type ListPage } from "../../engine/views/list-page.ts";
import type { Job } from "../../engine/state/job.ts";
import type { ListQuery } from "../../engine/views/queries.ts";
import type { Pages } from "../pages.ts";
import {
  expiryOf,
  jobEntryKey,
  metadataKeys,
  metadataPrefix,
  readJobEntry,
  readSuffix,
  statusKey,
  statusPrefix,
  timeSuffix,
} from "./entries.ts";
import { KeyHash } from "./bloom.ts";
import { mergeRuns } from "./merge-runs.ts";
import { loadRun, SECTIONS, type Run, type SectionName } from "./run.ts";
import { PageCache } from "./page-cache.ts";
import { RunWriter } from "./run-writer.ts";
import { mergeEntries, PAGE_BYTES, type Entry } from "./section.ts";

/** A job is read and written again at every merge, so not too few; a question about a list asks every run, so not too many. */
const MERGE_RUNS = 16;
/** Entries that one question about a list looks at, when it shows few of them: whoever asked goes on from there. */
const LOOKED_AT_MAX = 10_000;
/** The same for pages of jobs: taking one apart costs up to a millisecond. A list of as many jobs as may be asked for does with fewer. */
const PAGES_READ_MAX = 1_000;
const FINAL_STATUSES: readonly JobStatus[] = ["succeeded", "failed", "cancelled"];

/** Encoded in one turn of the event loop: a few milliseconds. With fewer, jobs of a queue that is always busy would end faster than they are put away. */
const TURN_JOBS = 2_000;

export interface RunWriting {
  readonly onKey?: (key: string) => void;
  /** Lets others have a turn. */
  readonly pause?: () => Promise<void>;
}

export interface RunShape {
  readonly sequence: number;
  readonly pages: number;
  readonly bytes: number;
}

export class FinishedJobs {
  readonly #pages: Pages;
  readonly #retentionMs: number;
  #runs: readonly Run[];
  /** Of which run on a job counts; older entries do not. */
  #masks = new Map<string, number>();

  private constructor(pages: Pages, retentionMs: number, runs: readonly Run[]) {
    this.#pages = pages;
    this.#retentionMs = retentionMs;
    this.#runs = runs;
    this.#readMasks();
  }

  static async load(pages: Pages, ids: readonly string[], retentionMs: number): Promise<FinishedJobs> {
    const runs = await Promise.all(ids.map((id) => loadRun(pages, id)));
    return new FinishedJobs(pages, retentionMs, runs);
  }

  /** What a manifest must name. */
  get runIds(): readonly string[] {
    return this.#runs.map(({ id }) => id);
  }

  get isEmpty(): boolean {
    return this.#runs.length === 0;
  }

  /** Some may be counted that were deleted or have expired. */
  get size(): number {
    return this.#runs.reduce((sum, { directory }) => sum + directory.jobs, 0);
  }

  /** The runs, oldest first. Pages are of one size, roughly. */
  get shape(): readonly RunShape[] {
    return this.#runs.map(({ directory: { sequence, firstKeys } }) => {
      const pages = SECTIONS.reduce((sum, section) => sum + firstKeys[section].length, 0);
      return { sequence, pages, bytes: pages * PAGE_BYTES };
    });
  }

  mayHold({ tenant, id }: JobName): boolean {
    const hash = new KeyHash(jobEntryKey(tenant, id));
    for (const run of this.#runs) if (run.mayHold(hash)) return true;
    return false;
  }

  async get({ tenant, id }: JobName, wallMs: number): Promise<StoredJob | undefined> {
    const key = jobEntryKey(tenant, id);
    const hash = new KeyHash(key);
    return this.#steady(async (runs, masks) => {
      for (let at = runs.length - 1; at >= 0; at--) {
        const run = runs[at] as Run;
        // oxlint-disable-next-line no-await-in-loop -- the first that has it counts.
        const entry = run.mayHold(hash) ? await run.find(key) : undefined;
        if (entry !== undefined && !isMasked(masks, key, run))
          return entry.expiresAtMs > wallMs ? readJobEntry(entry) : undefined;
      }
      return undefined;
    });
  }

  async list(query: ListQuery, wallMs: number): Promise<ListPage<StoredJob>> {
    const { tenant, status, metadata } = query;
    if (status !== undefined && !isFinal(status)) return { jobs: [] };
    const prefixes =
      metadata === undefined
        ? (status === undefined ? FINAL_STATUSES : [status]).map((each) => statusPrefix(tenant, each))
        : [metadataPrefix(tenant, metadata.key, metadata.value)];
    const section: SectionName = metadata === undefined ? "status" : "metadata";
    const found = await this.#steady((runs, masks) =>
      Promise.all(prefixes.map((prefix) => scan({ runs, masks, section, prefix, wallMs }, query))),
    );
    return mergePages(found, query.limit, (job) => job);
  }

  /** Tenants that have jobs here, after the one that is named. One page of each run is read for each. */
  async tenants(limit: number, after?: string): Promise<readonly string[]> {
    const found: string[] = [];
    let from = after === undefined ? "" : `${after}\u0001`;
    while (found.length < limit) {
      const begin = from;
      // oxlint-disable-next-line no-await-in-loop -- each search begins where the one before ended.
      const first = await this.#steady((runs) => mergeEntries(sourcesOf(runs, "jobs", begin)).next());
      if (first.done === true) break;
      const { key } = first.value.entry;
      const tenant = key.slice(0, key.indexOf("\0"));
      found.push(tenant);
      from = `${tenant}\u0001`;
    }
    return found;
  }

  /** Every job, by tenant and id. */
  async *all(wallMs: number): AsyncGenerator<StoredJob> {
    let [from, shown] = ["", ""];
    for (;;) {
      const [runs, masks] = [this.#runs, this.#masks];
      try {
        for await (const { tag, entry } of mergeEntries(sourcesOf(runs, "jobs", from))) {
          from = entry.key;
          if (from === shown || entry.expiresAtMs <= wallMs || isMasked(masks, from, tag)) continue;
          shown = from;
          yield readJobEntry(entry);
        }
        return;
      } catch (error) {
        // As in `#steady`, but from where it was.
        if (runs === this.#runs) throw error;
      }
    }
  }

  /**
   * Writes a run with these jobs, which have ended, and says of `forgotten` that older runs do not count. Nothing changes here before `adopt`; `onKey` hears of every
   * key before it is written, so that a run which is not adopted can be removed.
   */
  async write(
    sequence: number,
    jobs: readonly Job[],
    forgotten: readonly JobName[],
    { onKey = () => {}, pause = () => Promise.resolve() }: RunWriting = {},
  ): Promise<Run> {
    const writer = new RunWriter(this.#pages, sequence, 0, jobs.length, onKey);
    const retentionMs = this.#retentionMs;
    let left = TURN_JOBS;
    const written = async (writing: Promise<void> | undefined): Promise<void> => {
      await (writing ?? pause());
      left = TURN_JOBS;
    };
    for (const job of jobs.toSorted(inNameOrder)) {
      const key = jobEntryKey(job.tenant.name, job.id);
      const writing = writer.addJob(key, expiryOf(job, retentionMs), (out) => writeEndedJob(out, job));
      // oxlint-disable-next-line no-await-in-loop -- as pages fill, and so that others have their turn.
      if (writing !== undefined || --left === 0) await written(writing);
    }
    for (const job of jobs.toSorted(inStatusOrder)) {
      const entry = {
        key: statusKey(job.tenant.name, job),
        expiresAtMs: expiryOf(job, retentionMs),
        value: "",
      };
      const writing = writer.add("status", entry);
      // oxlint-disable-next-line no-await-in-loop -- as above.
      if (writing !== undefined || --left === 0) await written(writing);
    }
    const metadata = jobs.flatMap((job) =>
      metadataKeys(job.tenant.name, job).map((key) => ({
        key,
        expiresAtMs: expiryOf(job, retentionMs),
        value: "",
      })),
    );
    for (const entry of metadata.sort(inKeyOrder)) {
      const writing = writer.add("metadata", entry);
      // oxlint-disable-next-line no-await-in-loop -- as above.
      if (writing !== undefined || --left === 0) await written(writing);
    }
    return writer.finish(forgotten.map(({ tenant, id }) => jobEntryKey(tenant, id)));
  }

  /** The run counts from now on. */
  adopt(run: Run): void {
    this.#runs = [...this.#runs, run];
    if (run.directory.masks.length === 0) return;
    // Whoever reads the runs before has the masks before.
    this.#masks = new Map(this.#masks);
    for (const key of run.directory.masks) this.#masks.set(key, run.directory.sequence);
  }

  /** Runs of which everything has expired. They stay until `replace`. */
  expired(wallMs: number): readonly Run[] {
    // The masks of a younger run speak of older ones only, so any run may go once its own jobs may; its masks must stay while older runs do.
    return this.#runs.filter(
      ({ directory }, at) => directory.expiresAtMs <= wallMs && (at === 0 || directory.masks.length === 0),
    );
  }

  /** The runs that should be merged next; undefined when there are few enough. */
  mergeable(): readonly Run[] | undefined {
    const runs = this.#runs;
    for (let end = runs.length; end >= MERGE_RUNS; end--) {
      const candidates = runs.slice(end - MERGE_RUNS, end);
      const { level } = (candidates[0] as Run).directory;
      if (candidates.every(({ directory }) => directory.level === level)) return candidates;
    }
    return undefined;
  }

  /** Writes one run with all that counts of these neighbours. `onKey` as above. */
  async merge(runs: readonly Run[], wallMs: number, onKey: (key: string) => void): Promise<Run> {
    const { sequence } = (runs[0] as Run).directory;
    const masks = new Map([...this.#masks].filter(([, since]) => since > sequence));
    return mergeRuns(this.#pages, { runs, wallMs, masks, keepMasks: runs[0] !== this.#runs[0] }, onKey);
  }

  /** `merged` takes the place of `runs`; without it they are gone. */
  replace(runs: readonly Run[], merged: Run | undefined): void {
    const gone = new Set(runs);
    const at = this.#runs.findIndex((run) => gone.has(run));
    const left = this.#runs.filter((run) => !gone.has(run));
    if (merged !== undefined) left.splice(at, 0, merged);
    this.#runs = left;
    this.#readMasks();
  }

  /** Reads again when runs that were being read were replaced meanwhile: their pages are removed. What is read goes with the masks of its moment. */
  async #steady<T>(read: (runs: readonly Run[], masks: Masks) => Promise<T>): Promise<T> {
    for (;;) {
      const runs = this.#runs;
      try {
        // oxlint-disable-next-line no-await-in-loop -- seldom more than once.
        return await read(runs, this.#masks);
      } catch (error) {
        if (runs === this.#runs) throw error;
      }
    }
  }

  #readMasks(): void {
    this.#masks = new Map();
    for (const { directory } of this.#runs)
      for (const key of directory.masks) this.#masks.set(key, directory.sequence);
  }
}

/** Of which run on a job counts, by its key. */
type Masks = ReadonlyMap<string, number>;

function isMasked(masks: Masks, key: string, run: Run): boolean {
  const since = masks.get(key);
  return since !== undefined && since > run.directory.sequence;
}

function sourcesOf(
  runs: readonly Run[],
  section: SectionName,
  from = "",
): { readonly tag: Run; readonly entries: AsyncGenerator<Entry> }[] {
  return runs.map((run) => ({ tag: run, entries: run.entries(section, from) }));
}

interface Scanned {
  readonly runs: readonly Run[];
  readonly masks: Masks;
  readonly section: SectionName;
  readonly prefix: string;
  readonly wallMs: number;
}

async function scan(
  { runs, masks, section, prefix, wallMs }: Scanned,
  { tenant, status, group, limit, before }: ListQuery,
): Promise<ListPage<StoredJob>> {
  const from = before === undefined ? prefix : prefix + timeSuffix(before.statusAtMs, before.id);
  const found: StoredJob[] = [];
  let looked = 0;
  let last: ListCursor | undefined;
  const cache = new PageCache();
  for await (const { tag, entry } of mergeEntries(sourcesOf(runs, section, from))) {
    if (!entry.key.startsWith(prefix)) break;
    if (found.length >= limit || looked >= LOOKED_AT_MAX || cache.reads >= PAGES_READ_MAX)
      return { jobs: found, next: last };
    const { id, statusAtMs } = readSuffix(entry.key, prefix.length);
    if (before !== undefined && before.statusAtMs === statusAtMs && before.id === id) continue;
    looked += 1;
    last = { statusAtMs, id };
    const key = jobEntryKey(tenant, id);
    if (entry.expiresAtMs <= wallMs || isMasked(masks, key, tag)) continue;
    const job = await tag.find(key, cache);
    if (job === undefined) throw new Error(`an index of finished jobs speaks of ${id}, which is not there`);
    const stored = readJobEntry(job);
    if (status !== undefined && stored.status !== status) continue;
    if (group === undefined || decodeBody(stored.body).group === group) found.push(stored);
  }
  return { jobs: found };
}

/** The orders of keys, without making them. */
function inNameOrder(a: Job, b: Job): number {
  return inOrder(a.tenant.name, b.tenant.name) || inOrder(a.id, b.id);
}

function inStatusOrder(a: Job, b: Job): number {
  return (
    inOrder(a.tenant.name, b.tenant.name) ||
    inOrder(a.status, b.status) ||
    b.statusAtMs - a.statusAtMs ||
    inOrder(a.id, b.id)
  );
}

function inOrder(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function inKeyOrder(a: Entry, b: Entry): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}
