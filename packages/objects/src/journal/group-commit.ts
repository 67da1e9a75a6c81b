/**
 * The journal's writer: gathers records while a flush is out, and flushes them together. One flush is out at a time. A record is acknowledged when its batch is
 * durable and nobody had fenced its stream, or the journal, by then.
 */
import { compareEpochs, formatEpoch, type Epoch, type Timer } from "@keelson/kernel";
import {
  JOURNAL_LIMITS,
  type Journal,
  type JournalPorts,
  type JournalStats,
  type JournalStream,
  type JournalTerms,
  type StreamFence,
} from "./contract.ts";
import { JournalError } from "./errors.ts";
import { encodeHead, headBytes } from "./format/batch.ts";
import { FenceMap } from "./format/fences.ts";
import { Gathering, type BatchEntry } from "./gathering.ts";
import type { JournalLog } from "./log.ts";
import { OpenStream, type RecordSink } from "./open-stream.ts";

export interface GroupCommitOptions extends JournalPorts {
  readonly name: string;
  readonly epoch: Epoch;
  readonly terms: JournalTerms;
  /** Runs something after what is ready now has run: `setImmediate`, unless a simulation has a better idea. */
  readonly soon: (run: () => void) => void;
}

export class GroupCommit implements Journal, RecordSink {
  readonly name: string;
  readonly epoch: Epoch;
  readonly #log: JournalLog;
  readonly #options: GroupCommitOptions;
  readonly #terms: JournalTerms;
  readonly #streams = new Map<string, OpenStream>();
  readonly #fences = new FenceMap();
  #gathering: Gathering;
  #spare: Gathering;
  #head = Buffer.allocUnsafe(4096);
  /** The flush that is out, and whoever waits for what gathers now. */
  #out: Promise<void> | undefined;
  #timer: Timer | undefined;
  #scheduled = false;
  /** A flush took longer than it may, and may still be going on. */
  #stuck = false;
  /** Somebody waits in `flush`. */
  #urgent = false;
  #failure: JournalError | undefined;
  #batches = 0;
  #records = 0;
  #recordBytes = 0;

  constructor(log: JournalLog, options: GroupCommitOptions) {
    this.name = options.name;
    this.epoch = options.epoch;
    this.#log = log;
    this.#options = options;
    this.#terms = options.terms;
    this.#fences.add(log.fences);
    this.#gathering = new Gathering(options.terms);
    this.#spare = new Gathering(options.terms);
  }

  get failure(): JournalError | undefined {
    return this.#failure;
  }

  get stats(): JournalStats {
    return { batches: this.#batches, records: this.#records, recordBytes: this.#recordBytes };
  }

  stream(id: string, epoch: Epoch): JournalStream {
    if (id === "" || Buffer.byteLength(id) > JOURNAL_LIMITS.streamIdBytesMax)
      throw rejected(`a stream's id has 1 to ${JOURNAL_LIMITS.streamIdBytesMax} bytes`);
    const known = this.#streams.get(id);
    const order = known === undefined ? 1 : compareEpochs(epoch, known.epoch);
    if (order < 0 || this.#fences.refuses(id, epoch)) throw this.#fencedStream(id, epoch);
    if (known !== undefined && order === 0 && known.ended === undefined) return known;
    if (this.#streams.size >= JOURNAL_LIMITS.streamsMax && known === undefined)
      throw rejected(`a journal has at most ${JOURNAL_LIMITS.streamsMax} open streams`);
    if (known !== undefined) known.ended = this.#fencedStream(id, known.epoch);
    const opened = new OpenStream(this, id, epoch);
    this.#streams.set(id, opened);
    return opened;
  }

  append(stream: OpenStream, record: Uint8Array): Promise<number> {
    const refusal = this.#failure ?? stream.ended;
    if (refusal !== undefined) return Promise.reject(refusal);
    if (record.length > this.#terms.recordBytesMax)
      return Promise.reject(
        rejected(`a record of ${record.length} bytes is longer than ${this.#terms.recordBytesMax}`),
      );
    const gathering = this.#gathering;
    const durable = gathering.append(stream, record);
    if (durable === undefined) return Promise.reject(this.#overloaded());
    if (gathering.records === 1) gathering.since = this.#options.clock.now();
    if (this.#out === undefined && !this.#scheduled && (gathering.records === 1 || this.#isFull()))
      this.#schedule();
    return durable;
  }

  async flush(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const waiting = Array.from(this.#gathering.entries, ({ durable }) => durable);
    if (waiting.length > 0) this.#urgent = true;
    if (waiting.length > 0 && this.#out === undefined) this.#start();
    await this.#out;
    await Promise.all(waiting);
  }

  async trim(sequence: number): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    await this.#log.trim(sequence);
  }

  async close(): Promise<void> {
    // What fails here was told to whoever appended it.
    while (this.#failure === undefined && (this.#out !== undefined || this.#gathering.records > 0)) {
      if (this.#out === undefined) this.#start();
      // oxlint-disable-next-line no-await-in-loop -- one flush after the other.
      await this.#out;
    }
    await this.#out;
    this.#failure ??= new JournalError("JOURNAL_CLOSED", `journal "${this.name}" was closed`);
    this.#cancelTimer();
    const closing = this.#log.close();
    // What a flush that never ended still holds is let go when it ends, if ever.
    if (this.#stuck) closing.catch(() => {});
    else await closing;
  }

  /** Decides when what gathers is flushed. No flush is out. */
  #schedule(): void {
    const { gatherMs } = this.#terms;
    const now = gatherMs === 0 || this.#urgent || this.#isFull();
    const waitMs = now ? 0 : this.#gathering.since + gatherMs - this.#options.clock.now();
    if (waitMs <= 0) {
      this.#scheduled = true;
      this.#cancelTimer();
      this.#options.soon(() => {
        if (this.#scheduled && this.#failure === undefined) this.#start();
      });
    } else {
      this.#timer ??= this.#options.clock.after(waitMs, () => {
        this.#timer = undefined;
        if (this.#out === undefined && this.#gathering.records > 0) this.#start();
      });
    }
  }

  #isFull(): boolean {
    const { bytes, records } = this.#gathering;
    return bytes >= this.#terms.flushBytes || records >= this.#terms.flushRecords;
  }

  /** Flushes what gathers, and goes on as long as more is due. */
  #start(): void {
    this.#scheduled = false;
    this.#urgent = false;
    this.#cancelTimer();
    const gathering = this.#gathering;
    this.#gathering = this.#spare;
    this.#spare = gathering;
    gathering.seal();
    this.#out = this.#flush(gathering).then(() => {
      this.#out = undefined;
      gathering.clear();
      if (this.#failure === undefined && this.#gathering.records > 0) this.#schedule();
    });
  }

  /** Writes one batch, as often as fences shrink it. Never rejects. */
  async #flush(gathering: Gathering): Promise<void> {
    try {
      while (gathering.records > 0) {
        const { sequence, opening } = this.#log.next;
        const { encoded, entries } = gathering;
        const head = this.#headFor(headBytes(entries));
        encodeHead(head, { sequence, opening, atMs: this.#options.clock.wall() }, entries, encoded);
        // oxlint-disable-next-line no-await-in-loop -- written again only without what was fenced.
        const { durable, fenced } = await this.#inTime(this.#log.write({ head, records: encoded }));
        if (fenced === "journal") return this.#break(this.#fencedJournal(), gathering.entries);
        if (fenced.length > 0) this.#fence(fenced, gathering);
        if (!durable) continue;
        this.#batches += 1;
        this.#records += gathering.records;
        this.#recordBytes += gathering.bytes;
        for (const { resolve } of gathering.entries) resolve(sequence);
        return;
      }
    } catch (error) {
      this.#break(
        new JournalError(
          "JOURNAL_UNKNOWN",
          `journal "${this.name}" broke while it was writing: ${messageOf(error)}`,
          {
            cause: error,
          },
        ),
        gathering.entries,
      );
    }
  }

  /** Ends streams that belong to another tenure now, and takes what they have in the batch out of it. */
  #fence(fences: readonly StreamFence[], batch: Gathering): void {
    this.#fences.add(fences);
    for (const { stream: id } of fences) {
      const stream = this.#streams.get(id);
      if (stream === undefined || !this.#fences.refuses(id, stream.epoch)) continue;
      stream.ended = this.#fencedStream(id, stream.epoch);
      this.#streams.delete(id);
    }
    const refused = ({ stream }: BatchEntry): boolean => this.#fences.refuses(stream.id, stream.epoch);
    for (const { stream, reject } of batch.remove(refused))
      reject(this.#fencedStream(stream.id, stream.epoch));
  }

  /** A disk or a server that does not come back must not keep those waiting who appended. */
  async #inTime<T>(work: Promise<T>): Promise<T> {
    const { flushTimeoutMs } = this.#terms;
    let timer: Timer | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = this.#options.clock.after(flushTimeoutMs, () => {
        this.#stuck = true;
        reject(new Error(`a flush did not end within ${flushTimeoutMs} ms`));
      });
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      timer?.cancel();
    }
  }

  /** Nothing is appended from here on. What was on its way gets `error`, what only waited learns that it never was. */
  #break(error: JournalError, onTheirWay: readonly BatchEntry[]): void {
    const fenced = error.code === "JOURNAL_FENCED";
    this.#failure = fenced
      ? error
      : new JournalError("JOURNAL_BROKEN", `journal "${this.name}" is broken: open it again`, {
          cause: error.cause,
        });
    for (const { reject } of onTheirWay) reject(error);
    this.#gathering.seal();
    for (const { reject } of this.#gathering.entries) reject(this.#failure);
    this.#gathering.clear();
    this.#cancelTimer();
  }

  #headFor(length: number): Buffer {
    if (length > this.#head.length) this.#head = Buffer.allocUnsafe(2 * length);
    return this.#head.subarray(0, length);
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #fencedJournal(): JournalError {
    return new JournalError(
      "JOURNAL_FENCED",
      `journal "${this.name}" was opened by another writer after epoch ${formatEpoch(this.epoch)}: stop writing`,
    );
  }

  #fencedStream(id: string, epoch: Epoch): JournalError {
    return new JournalError(
      "JOURNAL_FENCED",
      `stream "${id}" of journal "${this.name}" has a higher epoch than ${formatEpoch(epoch)} by now: stop writing`,
    );
  }

  #overloaded(): JournalError {
    return new JournalError(
      "JOURNAL_OVERLOADED",
      `journal "${this.name}" has ${this.#gathering.bytes} bytes waiting, of at most ${this.#terms.gatherBytesMax}: wait for flush`,
    );
  }
}

function rejected(message: string): JournalError {
  return new JournalError("JOURNAL_REJECTED", message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
