/** Writes a run: pages as they fill, the directory at the end. What it wrote is nobody's until a manifest names it. */
import type { ByteWriter } from "../../engine/codec/byte-writer.ts";
import type { PageEntry, Pages } from "../pages.ts";
import { Bloom, KeyHash } from "./bloom.ts";
import {
  directoryKey,
  encodeDirectory,
  Run,
  runId,
  SECTIONS,
  sectionPrefix,
  type RunDirectory,
  type SectionName,
} from "./run.ts";
import { SectionWriter, type Entry } from "./section.ts";

const WRITE_BYTES = 2 * 1024 * 1024;

export class RunWriter {
  readonly #pages: Pages;
  readonly #onKey: (key: string) => void;
  readonly #sections: Readonly<Record<SectionName, SectionWriter>>;
  readonly #sequence: number;
  readonly #level: number;
  readonly #bloom: Bloom;
  #jobs = 0;
  #expiresAtMs = 0;
  #full: PageEntry[] = [];
  #fullBytes = 0;

  constructor(
    pages: Pages,
    sequence: number,
    level: number,
    keysMax: number,
    onKey: (key: string) => void = () => {},
  ) {
    this.#pages = pages;
    this.#onKey = onKey;
    this.#sequence = sequence;
    this.#level = level;
    this.#bloom = Bloom.forKeys(keysMax);
    const id = runId({ sequence, level });
    const emit = (page: PageEntry): void => {
      this.#full.push(page);
      this.#fullBytes += page.value.length;
    };
    const [jobs, status, metadata] = SECTIONS.map((each) => new SectionWriter(sectionPrefix(id, each), emit));
    this.#sections = {
      jobs: jobs as SectionWriter,
      status: status as SectionWriter,
      metadata: metadata as SectionWriter,
    };
  }

  /** In order of keys within a section. Await it when it gives a promise: a batch of pages is being written. */
  add(section: SectionName, entry: Entry): Promise<void> | undefined {
    if (section === "jobs") this.#count(entry.key, entry.expiresAtMs);
    this.#sections[section].add(entry);
    return this.#fullBytes >= WRITE_BYTES ? this.#write() : undefined;
  }

  /** The same for a job that has no entry yet. */
  addJob(key: string, expiresAtMs: number, write: (out: ByteWriter) => void): Promise<void> | undefined {
    this.#count(key, expiresAtMs);
    this.#sections.jobs.addWritten(key, expiresAtMs, write);
    return this.#fullBytes >= WRITE_BYTES ? this.#write() : undefined;
  }

  /** The same for a value that is there as bytes, in any section. */
  addBytes(
    section: SectionName,
    key: string,
    expiresAtMs: number,
    value: Uint8Array,
  ): Promise<void> | undefined {
    if (section === "jobs") this.#count(key, expiresAtMs);
    this.#sections[section].addBytes(key, expiresAtMs, value);
    return this.#fullBytes >= WRITE_BYTES ? this.#write() : undefined;
  }

  async finish(masks: readonly string[]): Promise<Run> {
    for (const section of SECTIONS) this.#sections[section].finish();
    const { jobs, status, metadata } = this.#sections;
    const directory: RunDirectory = {
      sequence: this.#sequence,
      level: this.#level,
      jobs: this.#jobs,
      expiresAtMs: this.#expiresAtMs,
      firstKeys: { jobs: jobs.firstKeys, status: status.firstKeys, metadata: metadata.firstKeys },
      masks,
      bloom: this.#bloom,
    };
    this.#full.push({ key: directoryKey(runId(directory)), value: encodeDirectory(directory) });
    await this.#write();
    return new Run(this.#pages, directory);
  }

  #count(key: string, expiresAtMs: number): void {
    this.#bloom.add(new KeyHash(key));
    this.#jobs += 1;
    if (expiresAtMs > this.#expiresAtMs) this.#expiresAtMs = expiresAtMs;
  }

  async #write(): Promise<void> {
    const put = this.#full;
    this.#full = [];
    this.#fullBytes = 0;
    for (const { key } of put) this.#onKey(key);
    // Nothing of the run counts before a manifest names it, and that is written durably.
    await this.#pages.write({ put, delete: [], durable: false });
  }
}
