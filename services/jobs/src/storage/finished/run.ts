/** A run: jobs that ended, sorted by tenant and id, with indexes by status and time and by metadata. It never changes; newer runs overrule it. */
import { ByteReader } from "../../engine/codec/byte-reader.ts";
import { ByteWriter } from "../../engine/codec/byte-writer.ts";
import { readList, writeList } from "../../engine/codec/body.ts";
import type { Pages } from "../pages.ts";
import { Bloom, type KeyHash } from "./bloom.ts";
import type { PageCache } from "./page-cache.ts";
import { pageKey, pageOf, readEntries, type Entry } from "./section.ts";

export const SECTIONS = ["jobs", "status", "metadata"] as const;
export type SectionName = (typeof SECTIONS)[number];

const VERSION = 1;

export interface RunDirectory {
  /** Rises; a higher one overrules. */
  readonly sequence: number;
  /** How often its entries were merged. */
  readonly level: number;
  readonly jobs: number;
  /** All of it may be forgotten from then on. */
  readonly expiresAtMs: number;
  readonly firstKeys: Readonly<Record<SectionName, readonly string[]>>;
  /** Keys of jobs that older runs may hold and that do not count there any more. */
  readonly masks: readonly string[];
  readonly bloom: Bloom;
}

export function runId({ sequence, level }: Pick<RunDirectory, "sequence" | "level">): string {
  return `${String(sequence).padStart(12, "0")}.${level}`;
}

export function sectionPrefix(run: string, section: SectionName): string {
  return `run/${run}/${section}`;
}

export function directoryKey(run: string): string {
  return `directory/${run}`;
}

export function encodeDirectory(directory: RunDirectory): Buffer {
  const out = new ByteWriter(64 * 1024);
  out.byte(VERSION);
  out.whole(directory.sequence);
  out.whole(directory.level);
  out.whole(directory.jobs);
  out.whole(directory.expiresAtMs);
  for (const section of SECTIONS) writeList(out, directory.firstKeys[section], (to, key) => to.text(key));
  writeList(out, directory.masks, (to, key) => to.text(key));
  out.bytes(directory.bloom.bits);
  return out.copy();
}

export function decodeDirectory(bytes: Uint8Array): RunDirectory {
  const from = new ByteReader(bytes);
  const version = from.byte();
  if (version !== VERSION) throw new RangeError(`a run of finished jobs has the unknown version ${version}`);
  const text = (each: ByteReader): string => each.text();
  return {
    sequence: from.whole(),
    level: from.whole(),
    jobs: from.whole(),
    expiresAtMs: from.whole(),
    firstKeys: { jobs: readList(from, text), status: readList(from, text), metadata: readList(from, text) },
    masks: readList(from, text),
    bloom: new Bloom(from.rest()),
  };
}

export class Run {
  readonly id: string;
  readonly directory: RunDirectory;
  readonly #pages: Pages;

  constructor(pages: Pages, directory: RunDirectory) {
    this.#pages = pages;
    this.directory = directory;
    this.id = runId(directory);
  }

  mayHold(key: KeyHash): boolean {
    return this.directory.bloom.has(key);
  }

  async find(key: string, cache?: PageCache): Promise<Entry | undefined> {
    const page = pageOf(this.directory.firstKeys.jobs, key);
    if (page < 0) return undefined;
    const read = (): Promise<Entry[]> => this.#read("jobs", page);
    if (cache !== undefined) return cache.find(`${this.id}/${page}`, key, read);
    return (await read()).find((each) => each.key === key);
  }

  /** Entries with `key` ≥ `from`, in order. */
  async *entries(section: SectionName, from = ""): AsyncGenerator<Entry> {
    const { length } = this.directory.firstKeys[section];
    for (let page = Math.max(0, pageOf(this.directory.firstKeys[section], from)); page < length; page++) {
      // oxlint-disable-next-line no-await-in-loop -- read as it is asked for.
      for (const entry of await this.#read(section, page)) if (entry.key >= from) yield entry;
    }
  }

  /** Of every value that belongs to it. The directory is the last: whoever removes them and does not come to the end can be followed. */
  keys(): string[] {
    const keys: string[] = [];
    for (const section of SECTIONS)
      for (let page = 0; page < this.directory.firstKeys[section].length; page++)
        keys.push(pageKey(sectionPrefix(this.id, section), page));
    keys.push(directoryKey(this.id));
    return keys;
  }

  /** As it is stored. */
  async page(section: SectionName, page: number): Promise<Uint8Array> {
    const key = pageKey(sectionPrefix(this.id, section), page);
    const value = await this.#pages.get(key);
    if (value === undefined) throw new Error(`the page ${key} of finished jobs is missing`);
    return value;
  }

  async #read(section: SectionName, page: number): Promise<Entry[]> {
    return readEntries(await this.page(section, page));
  }
}

export async function loadRun(pages: Pages, id: string): Promise<Run> {
  const value = await pages.get(directoryKey(id));
  if (value === undefined) throw new Error(`the directory of the run ${id} of finished jobs is missing`);
  return new Run(pages, decodeDirectory(value));
}
