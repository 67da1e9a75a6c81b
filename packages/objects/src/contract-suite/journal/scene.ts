/** What each fact about journals works with: a place of its own, and short words for opening, appending and reading. */
import type { Epoch } from "@keelson/kernel";
import type { Objects } from "../../contract.ts";
import { realClock } from "../../fixtures/real-clock.ts";
import type { Journal, JournalBatch, JournalTerms } from "../../journal/contract.ts";
import { fenceStreams, openJournal, readJournal } from "../../journal/open.ts";

const NAME = "the/journal";
const PORTS = { clock: realClock, random: Math.random };

export interface JournalFacts {
  readonly about: string;
  readonly facts: Readonly<Record<string, (scene: JournalScene) => Promise<void>>>;
}

export class JournalScene {
  readonly objects: Objects;
  readonly #opened: Journal[] = [];

  constructor(objects: Objects) {
    this.objects = objects;
  }

  /** Opens the journal under this epoch, with batches that are flushed at once. */
  async open(revision: number, terms: Partial<JournalTerms> = {}): Promise<Journal> {
    const journal = await openJournal(this.objects, {
      name: NAME,
      epoch: epochOf(revision),
      ...PORTS,
      terms: { gatherMs: 0, ...terms },
    });
    this.#opened.push(journal);
    return journal;
  }

  async fence(stream: string, revision: number): Promise<void> {
    const streams = [{ stream, epoch: epochOf(revision) }];
    await fenceStreams(this.objects, { name: NAME, streams, timeoutMs: 10_000, ...PORTS });
  }

  read(options: { stream?: string; from?: number } = {}): AsyncGenerator<JournalBatch> {
    return readJournal(this.objects, { name: NAME, timeoutMs: 10_000, random: Math.random, ...options });
  }

  async batches(options: { stream?: string; from?: number } = {}): Promise<JournalBatch[]> {
    const batches: JournalBatch[] = [];
    for await (const batch of this.read(options)) batches.push(batch);
    return batches;
  }

  /** The text of all records, in order. */
  async texts(options: { stream?: string; from?: number } = {}): Promise<string[]> {
    const batches = await this.batches(options);
    return batches.flatMap(({ records }) => records.map(({ bytes }) => bytes.toString()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((journal) => journal.close()));
  }
}

export function epochOf(revision: number): Epoch {
  return { era: 1, revision };
}

export const FENCED = { name: "JournalError", code: "JOURNAL_FENCED" };
