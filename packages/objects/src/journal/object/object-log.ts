/**
 * A journal's batches in objects: one object per flush, under the next sequence, by put-if-absent. Whoever opens the journal or fences streams of it does so by
 * taking that next sequence; a writer that finds it taken reads what is there and knows. So a batch is acknowledged exactly when its sequence is its own.
 */
import { backoffMs, compareEpochs, formatEpoch, type Epoch } from "@keelson/kernel";
import type { Objects } from "../../contract.ts";
import { ObjectError } from "../../errors.ts";
import type { JournalPorts, StreamFence } from "../contract.ts";
import { JournalError } from "../errors.ts";
import type { BatchBytes, JournalLog, WriteOutcome } from "../log.ts";
import { drawWriter } from "../writer.ts";
import { JournalObjects, encodeData, encodeFence, type Mark, type Segment } from "./segments.ts";
import { claim, fillBehind, readTail } from "./tail.ts";

export interface ObjectLogOptions extends JournalPorts {
  readonly objects: Objects;
  readonly name: string;
  readonly epoch: Epoch;
  readonly flushTimeoutMs: number;
}

const BACKOFF = { firstMs: 50, maxMs: 2_000 };

export class ObjectLog implements JournalLog {
  readonly place: string;
  readonly fences: readonly StreamFence[];
  readonly #journal: JournalObjects;
  readonly #options: ObjectLogOptions;
  readonly #opening: number;
  readonly #writer: Buffer;
  #sequence: number;

  /** Ends every earlier writer of the journal. Throws JOURNAL_FENCED when one had a higher epoch. */
  static async open(options: ObjectLogOptions): Promise<ObjectLog> {
    const { objects, name, epoch, flushTimeoutMs: timeoutMs } = options;
    const journal = new JournalObjects(objects, name);
    const writer = drawWriter(options.random);
    const tail = await readTail(journal, timeoutMs);
    refuseLower(tail.epoch, epoch, name);
    const fences = tail.fences;
    const list = fences.list();
    const header = { kind: "opening", opening: tail.next, epoch, writer } as const;
    const make = (sequence: number, further: number): Buffer =>
      encodeFence({ ...header, sequence, further }, list);
    const { sequence, between } = await claim(journal, tail.next, make, timeoutMs);
    for (const segment of between) {
      // Somebody else may have opened it meanwhile. If it was with a higher epoch, our opening is void, and everybody sees so.
      if (segment.kind === "opening") refuseLower(segment.header.epoch, epoch, name);
      if (segment.kind !== "data") fences.add(segment.fences);
    }
    return new ObjectLog(journal, options, sequence, writer, fences.list());
  }

  private constructor(
    journal: JournalObjects,
    options: ObjectLogOptions,
    opening: number,
    writer: Buffer,
    fences: readonly StreamFence[],
  ) {
    this.place = journal.place;
    this.fences = fences;
    this.#journal = journal;
    this.#options = options;
    this.#opening = opening;
    this.#writer = writer;
    this.#sequence = opening + 1;
  }

  get next(): { sequence: number; opening: number } {
    return { sequence: this.#sequence, opening: this.#opening };
  }

  async write(batch: BatchBytes): Promise<WriteOutcome> {
    const { epoch, flushTimeoutMs } = this.#options;
    const sequence = this.#sequence;
    const header = {
      kind: "data",
      sequence,
      opening: this.#opening,
      epoch,
      writer: this.#writer,
      further: 0,
    } as const;
    const body = encodeData(header, batch);
    const outcome = await this.#insist((timeoutMs) => this.#journal.put(sequence, body, { timeoutMs }));
    if (outcome === "created") {
      this.#sequence += 1;
      return { durable: true, fenced: [] };
    }
    const found = await this.#insist(() => this.#journal.read(sequence, { timeoutMs: flushTimeoutMs }));
    return this.#meaningOf(found);
  }

  async trim(sequence: number): Promise<void> {
    const timeoutMs = this.#options.flushTimeoutMs;
    await this.#journal.trim(Math.min(sequence, this.#sequence), { timeoutMs });
  }

  async close(): Promise<void> {}

  /** What the segment says that somebody put under our sequence. Moves on to the sequence after it when it leaves us the journal. */
  async #meaningOf(found: Segment | undefined): Promise<WriteOutcome> {
    // Ourselves, by a try whose answer was lost.
    if (found?.kind === "data" && found.header.writer.equals(this.#writer)) {
      this.#sequence += 1;
      return { durable: true, fenced: [] };
    }
    // Trimmed already, by somebody who is far ahead of us.
    if (found === undefined || this.#endsUs(found)) return { durable: false, fenced: "journal" };
    const mark = found as Mark;
    const behind = await this.#insist((timeoutMs) => fillBehind(this.#journal, mark, timeoutMs));
    if (behind.some((segment) => this.#endsUs(segment))) return { durable: false, fenced: "journal" };
    this.#sequence = mark.header.sequence + mark.header.further + 1;
    return { durable: false, fenced: [mark, ...(behind as Mark[])].flatMap(({ fences }) => fences) };
  }

  /** Others' batches and openings do; not fences, and not the opening of one that came too late and knows it. */
  #endsUs({ kind, header }: Segment): boolean {
    return kind === "data" || (kind === "opening" && compareEpochs(header.epoch, this.#options.epoch) >= 0);
  }

  /** Tries again what may be tried again: putting if absent, and reading. */
  async #insist<T>(work: (timeoutMs: number) => Promise<T>): Promise<T> {
    const { clock, random, flushTimeoutMs } = this.#options;
    const endsAt = clock.now() + flushTimeoutMs;
    for (let tried = 1; ; tried += 1) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next try comes after this one.
        return await work(Math.max(1, endsAt - clock.now()));
      } catch (error) {
        const passing =
          error instanceof ObjectError &&
          (error.code === "OBJECT_UNAVAILABLE" || error.code === "OBJECT_UNKNOWN");
        const waitMs = backoffMs(BACKOFF, tried, random);
        if (!passing || clock.now() + waitMs >= endsAt) throw error;
        // oxlint-disable-next-line no-await-in-loop -- the same.
        await new Promise<void>((resolve) => {
          clock.after(waitMs, resolve);
        });
      }
    }
  }
}

function refuseLower(known: Epoch, own: Epoch, name: string): void {
  if (compareEpochs(known, own) <= 0) return;
  throw new JournalError(
    "JOURNAL_FENCED",
    `journal "${name}" was opened with epoch ${formatEpoch(known)}, which is higher than ${formatEpoch(own)}`,
  );
}
