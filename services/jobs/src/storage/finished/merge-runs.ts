/**
 * Makes one run of several neighbours: everything that counts of them, in one order, read and written page by page. It looks at keys and times only; values are passed on
 * as the bytes they are.
 */
import { ByteReader } from "../../engine/codec/byte-reader.ts";
import type { Pages } from "../pages.ts";
import { indexedJob } from "./entries.ts";
import { SECTIONS, type Run, type SectionName } from "./run.ts";
import { RunWriter } from "./run-writer.ts";

interface RunMerge {
  /** Oldest first. */
  readonly runs: readonly Run[];
  /** Entries that may be forgotten by then are. */
  readonly wallMs: number;
  /** Of which run on a job counts, by its key, where that is not the oldest. */
  readonly masks: ReadonlyMap<string, number>;
  /** Whether older runs are left, of which the masks of these still speak. */
  readonly keepMasks: boolean;
}

/** Nothing counts before a manifest names it; `onKey` hears of every key before it is written. */
export async function mergeRuns(
  pages: Pages,
  { runs, wallMs, masks, keepMasks }: RunMerge,
  onKey: (key: string) => void,
): Promise<Run> {
  const last = (runs.at(-1) as Run).directory;
  const keysMax = runs.reduce((sum, { directory }) => sum + directory.jobs, 0);
  const writer = new RunWriter(pages, last.sequence, last.level + 1, keysMax, onKey);
  for (const section of SECTIONS) {
    // oxlint-disable-next-line no-await-in-loop -- one section after the other, in bounded memory.
    const cursors = await Promise.all(runs.map((run) => RunCursor.open(run, section)));
    for (let first = firstOf(cursors); first !== undefined; first = firstOf(cursors)) {
      const { key, expiresAtMs, value, sequence } = first;
      const since = masks.size === 0 ? undefined : masks.get(section === "jobs" ? key : indexedJob(key));
      if (expiresAtMs > wallMs && (since === undefined || since <= sequence)) {
        const writing = writer.addBytes(section, key, expiresAtMs, value);
        // oxlint-disable-next-line no-await-in-loop -- as pages fill.
        if (writing !== undefined) await writing;
      }
      // oxlint-disable-next-line no-await-in-loop -- as pages are used up: others have their turn meanwhile.
      if (!first.next()) await first.nextPage();
    }
  }
  return writer.finish(keepMasks ? [...new Set(runs.flatMap(({ directory }) => directory.masks))] : []);
}

/** Of equal keys the one of the older run. */
function firstOf(cursors: readonly RunCursor[]): RunCursor | undefined {
  let first: RunCursor | undefined;
  for (const cursor of cursors)
    if (!cursor.done && (first === undefined || cursor.key < first.key)) first = cursor;
  return first;
}

/** A place in a section of a run. */
class RunCursor {
  key = "";
  expiresAtMs = 0;
  value: Uint8Array = new Uint8Array();
  done = false;
  readonly sequence: number;
  readonly #run: Run;
  readonly #section: SectionName;
  #page = 0;
  #from = new ByteReader(this.value);

  private constructor(run: Run, section: SectionName) {
    this.#run = run;
    this.#section = section;
    this.sequence = run.directory.sequence;
  }

  static async open(run: Run, section: SectionName): Promise<RunCursor> {
    const cursor = new RunCursor(run, section);
    await cursor.nextPage();
    return cursor;
  }

  /** False at the end of a page: then `nextPage` comes before anything else. */
  next(): boolean {
    const from = this.#from;
    if (from.done) return false;
    this.key = from.text();
    this.expiresAtMs = from.whole();
    this.value = from.block();
    return true;
  }

  async nextPage(): Promise<void> {
    do {
      if (this.#page >= this.#run.directory.firstKeys[this.#section].length) {
        this.done = true;
        return;
      }
      // oxlint-disable-next-line no-await-in-loop -- no page is empty; this would pass over one.
      this.#from = new ByteReader(await this.#run.page(this.#section, this.#page++));
    } while (!this.next());
  }
}
