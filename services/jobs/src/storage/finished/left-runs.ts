/**
 * Pages of runs that no manifest names, left by a process that ended while it wrote or removed them. Looked for once in a tenure, before its first checkpoint writes
 * runs of its own: nobody else would ever remove them.
 */
import type { Manifest } from "../manifest.ts";
import type { PageEntry, Pages } from "../pages.ts";
import type { FinishedJobs } from "./finished-jobs.ts";
import { decodeDirectory, directoryKey, Run, runId } from "./run.ts";

const SCAN_ENTRIES = 64;

/** Keys, all of which may be deleted. */
export async function leftRuns(pages: Pages, manifest: Manifest, finished: FinishedJobs): Promise<string[]> {
  const named = new Set(manifest.runs);
  const left = new Set<string>();
  // Those that were replaced or had expired: the directory goes last, so it says what else there may be.
  for await (const { value } of all(pages, directoryKey(""))) {
    const run = new Run(pages, decodeDirectory(value));
    if (!named.has(run.id)) for (const each of run.keys()) left.add(each);
  }
  // What a checkpoint was writing, and has no directory yet.
  const unnamed = `run/${runId({ sequence: manifest.checkpoint + 1, level: 0 })}`;
  for await (const { key } of all(pages, "run/", unnamed)) left.add(key);
  // The same of a merge: there is only one that could have been under way.
  const last = finished.mergeable()?.at(-1)?.directory;
  if (last !== undefined) {
    const merged = runId({ sequence: last.sequence, level: last.level + 1 });
    if (!named.has(merged)) for await (const { key } of all(pages, `run/${merged}/`)) left.add(key);
  }
  return [...left];
}

async function* all(pages: Pages, prefix: string, first?: string): AsyncGenerator<PageEntry> {
  for (let after = first; ;) {
    // oxlint-disable-next-line no-await-in-loop -- page by page.
    const entries = await pages.scan(prefix, { after, limit: SCAN_ENTRIES });
    yield* entries;
    if (entries.length < SCAN_ENTRIES) return;
    after = entries.at(-1)?.key;
  }
}
