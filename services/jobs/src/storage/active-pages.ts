/**
 * Active jobs in pages: every checkpoint writes the pages that changed under its own number beside the older ones, and those only go when the manifest names
 * the new checkpoint. So a checkpoint that is cut short changes nothing.
 */
import { decodeJobPage } from "../engine/checkpoint/job-page.ts";
import { Restore } from "../engine/checkpoint/restore.ts";
import type { Engine } from "../engine/engine.ts";
import type { Manifest } from "./manifest.ts";
import type { PageEntry, Pages } from "./pages.ts";

const DIGITS = 12;
const CHUNK_BYTES = 256 * 1024;
const SCAN_ENTRIES = 256;

function digits(value: number): string {
  return String(value).padStart(DIGITS, "0");
}

export function activeKey(page: number, checkpoint: number): string {
  return `active/${digits(page)}/${digits(checkpoint)}`;
}

function readActiveKey(key: string): { readonly page: number; readonly checkpoint: number } {
  const [, page, checkpoint] = key.split("/");
  return { page: Number(page), checkpoint: Number(checkpoint) };
}

function restKey(checkpoint: number, chunk: number): string {
  return `rest/${digits(checkpoint)}/${digits(chunk)}`;
}

/** What is not jobs, in pieces. */
export function restEntries(checkpoint: number, rest: Buffer): PageEntry[] {
  const entries: PageEntry[] = [];
  for (let at = 0; at < rest.length; at += CHUNK_BYTES)
    entries.push({ key: restKey(checkpoint, entries.length), value: rest.subarray(at, at + CHUNK_BYTES) });
  return entries;
}

export function restKeys({ checkpoint, restChunks }: Manifest): string[] {
  return Array.from({ length: restChunks }, (_, chunk) => restKey(checkpoint, chunk));
}

/** Which checkpoint's version of each page counts. */
export type PageVersions = Map<number, number>;

/**
 * Loads the manifest's checkpoint into the engine. Gives the versions that count and the keys of those that do not. After a split the pages of both halves begin
 * as copies of the whole's: `keep` says which tenants are this one's, and the others are as good as absent.
 */
export async function loadActive(
  pages: Pages,
  manifest: Manifest,
  engine: Engine,
  keep: (tenant: string) => boolean = () => true,
): Promise<{ readonly versions: PageVersions; readonly stale: string[] }> {
  const versions: PageVersions = new Map();
  const stale: string[] = [];
  const restore = new Restore(engine.core);
  let held: PageEntry | undefined;
  const settle = (): void => {
    if (held === undefined) return;
    const { page, checkpoint } = readActiveKey(held.key);
    const jobs = decodeJobPage(held.value).filter(({ tenant }) => keep(tenant));
    for (const job of jobs) restore.add(job);
    if (jobs.length > 0) versions.set(page, checkpoint);
    else stale.push(held.key);
  };
  for (let after: string | undefined; ;) {
    // oxlint-disable-next-line no-await-in-loop -- page by page.
    const entries = await pages.scan("active/", { after, limit: SCAN_ENTRIES });
    for (const entry of entries) {
      const { page, checkpoint } = readActiveKey(entry.key);
      if (checkpoint > manifest.checkpoint) stale.push(entry.key);
      else {
        // Versions of one page come in order; the last one counts.
        if (held !== undefined && readActiveKey(held.key).page === page) stale.push(held.key);
        else settle();
        held = entry;
      }
    }
    after = entries.at(-1)?.key;
    if (entries.length < SCAN_ENTRIES) break;
  }
  settle();
  if (manifest.checkpoint > 0) {
    const chunks = await Promise.all(restKeys(manifest).map((key) => pages.get(key)));
    if (chunks.some((chunk) => chunk === undefined)) throw new Error("a part of the checkpoint is missing");
    restore.finish(Buffer.concat(chunks as Uint8Array[]));
    dropOthers(engine, keep);
  }
  return { versions, stale };
}

/** What is not jobs of tenants that are not kept: settings, limits, schedules. */
function dropOthers({ state }: Engine, keep: (tenant: string) => boolean): void {
  for (const [name, tenant] of state.tenants) {
    if (keep(name)) continue;
    state.schedules -= tenant.schedules?.size ?? 0;
    state.tenants.delete(name);
  }
}
