/**
 * Records that wait for the same flush, already encoded, in one buffer that is used again and again. Appending is the hottest path of a job queue: it copies
 * the record behind the others and returns a promise that its stream's other records in this batch share.
 */
import type { JournalTerms } from "./contract.ts";
import type { JournalError } from "./errors.ts";
import { RECORD_HEAD_BYTES, type IndexLine } from "./format/batch.ts";
import type { OpenStream } from "./open-stream.ts";

const FIRST_BYTES = 64 * 1024;

/** What one stream has in one batch. */
export class BatchEntry implements IndexLine {
  readonly stream: OpenStream;
  /** Which line of the index it is. */
  slot: number;
  readonly durable: Promise<number>;
  resolve!: (sequence: number) => void;
  reject!: (error: JournalError) => void;
  records = 0;
  bytes = 0;

  constructor(stream: OpenStream, slot: number) {
    this.stream = stream;
    this.slot = slot;
    this.durable = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Whoever appended has this promise; one who does not look at it must not bring the process down.
    this.durable.catch(() => {});
  }

  get encoded(): Buffer {
    return this.stream.encoded;
  }
}

export class Gathering {
  readonly #bytesMax: number;
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;
  readonly entries: BatchEntry[] = [];
  records = 0;
  /** When the first record came, on the monotonic clock. */
  since = 0;

  constructor({ gatherBytesMax }: JournalTerms) {
    this.#bytesMax = gatherBytesMax;
  }

  get bytes(): number {
    return this.#length;
  }

  /** The encoded records. Valid until `clear`. */
  get encoded(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Undefined when there is no room. */
  append(stream: OpenStream, record: Uint8Array): Promise<number> | undefined {
    const at = this.#length;
    const end = at + RECORD_HEAD_BYTES + record.length;
    if (end > this.#buffer.length && !this.#grow(end)) return undefined;
    let { entry } = stream;
    if (entry === undefined) {
      entry = new BatchEntry(stream, this.entries.length);
      this.entries.push(entry);
      stream.entry = entry;
    }
    const buffer = this.#buffer;
    const { length } = record;
    const { slot } = entry;
    buffer[at] = length & 255;
    buffer[at + 1] = (length >>> 8) & 255;
    buffer[at + 2] = (length >>> 16) & 255;
    buffer[at + 3] = length >>> 24;
    buffer[at + 4] = slot & 255;
    buffer[at + 5] = slot >>> 8;
    buffer.set(record, at + RECORD_HEAD_BYTES);
    this.#length = end;
    this.records += 1;
    entry.records += 1;
    entry.bytes += RECORD_HEAD_BYTES + length;
    return entry.durable;
  }

  /** No stream appends to this any more; the next append begins an entry elsewhere. */
  seal(): void {
    for (const { stream } of this.entries) stream.entry = undefined;
  }

  /** Takes out the entries of fenced streams, with their records, and gives them back. */
  remove(fenced: (entry: BatchEntry) => boolean): BatchEntry[] {
    const removed = this.entries.filter(fenced);
    if (removed.length === 0) return removed;
    const kept = this.entries.filter((entry) => !removed.includes(entry));
    const slots = new Map(kept.map((entry, slot) => [entry.slot, slot]));
    this.#compact(slots);
    this.entries.splice(0, this.entries.length, ...kept);
    for (const [slot, entry] of kept.entries()) entry.slot = slot;
    return removed;
  }

  clear(): void {
    this.entries.length = 0;
    this.#length = 0;
    this.records = 0;
  }

  /** Moves the records that stay together, under their new slots. */
  #compact(slots: ReadonlyMap<number, number>): void {
    const buffer = this.#buffer;
    let to = 0;
    this.records = 0;
    for (let at = 0; at < this.#length;) {
      const end = at + RECORD_HEAD_BYTES + buffer.readUInt32LE(at);
      const slot = slots.get(buffer.readUInt16LE(at + 4));
      if (slot !== undefined) {
        buffer.copyWithin(to, at, end);
        buffer.writeUInt16LE(slot, to + 4);
        to += end - at;
        this.records += 1;
      }
      at = end;
    }
    this.#length = to;
  }

  #grow(needed: number): boolean {
    if (needed > this.#bytesMax) return false;
    let size = this.#buffer.length;
    while (size < needed) size *= 2;
    const grown = Buffer.allocUnsafe(Math.min(size, this.#bytesMax));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
    return true;
  }
}
