/**
 * A sorted list of entries in pages of about 64 KiB, and where each page begins. Three of them make a run: jobs by id, and two indexes. Writing takes entries
 * in order; reading begins anywhere.
 */
import { ByteReader } from "../../engine/codec/byte-reader.ts";
import { ByteWriter } from "../../engine/codec/byte-writer.ts";
import type { PageEntry } from "../pages.ts";

export interface Entry {
  readonly key: string;
  /** The job may be forgotten from then on. */
  readonly expiresAtMs: number;
  /** A stored job; empty in indexes, and where a job is only said to be gone. */
  readonly value: string;
}

export const PAGE_BYTES = 64 * 1024;

const scratch = new ByteWriter(4 * 1024);

export class SectionWriter {
  readonly firstKeys: string[] = [];
  readonly #prefix: string;
  readonly #emit: (page: PageEntry) => void;
  readonly #out = new ByteWriter(PAGE_BYTES * 2);

  constructor(prefix: string, emit: (page: PageEntry) => void) {
    this.#prefix = prefix;
    this.#emit = emit;
  }

  add({ key, expiresAtMs, value }: Entry): void {
    if (this.#out.length === 0) this.firstKeys.push(key);
    this.#out.text(key);
    this.#out.whole(expiresAtMs);
    this.#out.binary(value);
    if (this.#out.length >= PAGE_BYTES) this.finish();
  }

  /** The same for a value that is written here. */
  addWritten(key: string, expiresAtMs: number, write: (out: ByteWriter) => void): void {
    if (this.#out.length === 0) this.firstKeys.push(key);
    this.#out.text(key);
    this.#out.whole(expiresAtMs);
    scratch.clear();
    write(scratch);
    this.#out.block(scratch);
    if (this.#out.length >= PAGE_BYTES) this.finish();
  }

  /** The same for a value that is there as bytes. */
  addBytes(key: string, expiresAtMs: number, value: Uint8Array): void {
    if (this.#out.length === 0) this.firstKeys.push(key);
    this.#out.text(key);
    this.#out.whole(expiresAtMs);
    this.#out.whole(value.length);
    this.#out.bytes(value);
    if (this.#out.length >= PAGE_BYTES) this.finish();
  }

  finish(): void {
    if (this.#out.length === 0) return;
    const page = this.firstKeys.length - 1;
    this.#emit({ key: pageKey(this.#prefix, page), value: this.#out.copy() });
    this.#out.clear();
  }
}

export function pageKey(prefix: string, page: number): string {
  return `${prefix}/${String(page).padStart(8, "0")}`;
}

export function readEntries(page: Uint8Array): Entry[] {
  const from = new ByteReader(page);
  const entries: Entry[] = [];
  while (!from.done) entries.push({ key: from.text(), expiresAtMs: from.whole(), value: from.binary() });
  return entries;
}

/** The page that holds `key`, if any does: the last one that begins at or before it. −1 when all begin later. */
export function pageOf(firstKeys: readonly string[], key: string): number {
  let low = 0;
  let high = firstKeys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((firstKeys[middle] as string) <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Entries of several sorted sources in one order; equal keys in the order of the sources. */
export async function* mergeEntries<T>(
  sources: readonly { readonly tag: T; readonly entries: AsyncIterator<Entry> }[],
): AsyncGenerator<{ readonly tag: T; readonly entry: Entry }> {
  const heads = await Promise.all(
    sources.map(async ({ tag, entries }) => ({ tag, entries, head: await entries.next() })),
  );
  for (;;) {
    let best: (typeof heads)[number] | undefined;
    for (const each of heads)
      if (
        each.head.done !== true &&
        (best === undefined || each.head.value.key < (best.head.value as Entry).key)
      )
        best = each;
    if (best === undefined) return;
    yield { tag: best.tag, entry: best.head.value as Entry };
    // oxlint-disable-next-line no-await-in-loop -- one after the other is the point.
    best.head = await best.entries.next();
  }
}
