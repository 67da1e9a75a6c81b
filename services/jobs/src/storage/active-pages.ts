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
const SCAN_CHUNKS = 16;

function digits(value: number): string {
  return String(value).padStart(DIGITS, "0");
}

/** Most pages have one part, and its key names none. */
export function activeKey(page: number, checkpoint: number, part: number): string {
  const key = `active/${digits(page)}/${digits(checkpoint)}`;
  return part === 0 ? key : `${key}/${digits(part)}`;
}

export function activeKeys(page: number, { checkpoint, parts }: PageVersion): string[] {
  return Array.from({ length: parts }, (_, part) => activeKey(page, checkpoint, part));
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

/** Pieces of earlier checkpoints, and of one that was cut short: nobody would ever remove them. Keys, all of which may be deleted. */
export async function leftRest(pages: Pages, manifest: Manifest): Promise<string[]> {
  const kept = new Set(restKeys(manifest));
  const left: string[] = [];
  for (let after: string | undefined; ;) {
    // oxlint-disable-next-line no-await-in-loop -- a few at a time: each is large.
    const entries = await pages.scan("rest/", { after, limit: SCAN_CHUNKS });
    for (const { key } of entries) if (!kept.has(key)) left.push(key);
    if (entries.length < SCAN_CHUNKS) return left;
    after = entries.at(-1)?.key;
  }
}

export interface PageVersion {
  readonly checkpoint: number;
  readonly parts: number;
}

/** Which checkpoint's version of each page counts. */
export type PageVersions = Map<number, PageVersion>;

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
  /** The parts of one version of a page. */
  let held: PageEntry[] = [];
  const discard = (): void => {
    for (const { key } of held) stale.push(key);
  };
  const settle = (): void => {
    if (held.length === 0) return;
    const { page, checkpoint } = readActiveKey((held[0] as PageEntry).key);
    let kept = 0;
    for (const { value } of held)
      for (const job of decodeJobPage(value)) {
        if (!keep(job.tenant)) continue;
        restore.add(job);
        kept += 1;
      }
    if (kept > 0) versions.set(page, { checkpoint, parts: held.length });
    else discard();
  };
  for (let after: string | undefined; ;) {
    // oxlint-disable-next-line no-await-in-loop -- page by page.
    const entries = await pages.scan("active/", { after, limit: SCAN_ENTRIES });
    for (const entry of entries) {
      const { page, checkpoint } = readActiveKey(entry.key);
      if (checkpoint > manifest.checkpoint) {
        stale.push(entry.key);
        continue;
      }
      const before = held[0] === undefined ? undefined : readActiveKey(held[0].key);
      if (before?.page === page && before.checkpoint === checkpoint) {
        held.push(entry);
        continue;
      }
      // Versions of one page come in order; the last one counts.
      if (before?.page === page) discard();
      else settle();
      held = [entry];
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
