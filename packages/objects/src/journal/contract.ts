/**
 * The journal: what is acknowledged here is durable, fenced by epochs, and comes back in order after any crash. Records of many streams (shards, as a rule)
 * share its flushes, so that a node pays for one sync or one PUT at a time, whatever the number of its shards.
 *
 * Two epochs guard it. The journal's own says who may append to it at all: opening with an epoch ends every writer that opened before, also one with the same
 * epoch, and a lower one is refused. A stream's epoch says who may append to that stream: `fenceStreams` ends it in a journal that somebody else writes.
 * What an ended writer had acknowledged is kept; nothing that it acknowledges later exists, because it acknowledges nothing later.
 */
import type { Clock, Epoch, Random } from "@keelson/kernel";

/** Records that became durable together. */
export interface JournalBatch {
  /** Rises from batch to batch, not always by one. */
  readonly sequence: number;
  /** The writer's wall clock, for people. */
  readonly atMs: number;
  /** In the order in which they were appended. */
  readonly records: readonly JournalRecord[];
}

export interface JournalRecord {
  readonly stream: string;
  readonly epoch: Epoch;
  readonly bytes: Buffer;
}

/** One stream of a journal, open for appending under one epoch. */
export interface JournalStream {
  readonly id: string;
  readonly epoch: Epoch;
  /**
   * Takes a copy of the record. Resolves with the sequence of its batch once it is durable. Appends of one stream that share a batch share one promise.
   * Rejects with JOURNAL_FENCED when another tenure has begun, with JOURNAL_OVERLOADED when too much waits, and as JournalErrorCode says.
   */
  append(record: Uint8Array): Promise<number>;
}

export interface Journal {
  readonly name: string;
  readonly epoch: Epoch;
  /** Why it can append no more; undefined while it can. */
  readonly failure: Error | undefined;
  readonly stats: JournalStats;
  /** Opens a stream. A higher epoch ends the handle of a lower one; throws JOURNAL_FENCED for a lower one. */
  stream(id: string, epoch: Epoch): JournalStream;
  /** Resolves when everything that was appended before is durable. */
  flush(): Promise<void>;
  /** Batches below `sequence` are not needed any more. What cannot be removed without touching others stays until later. */
  trim(sequence: number): Promise<void>;
  /** Flushes, and lets go of files. Later appends reject with JOURNAL_CLOSED. */
  close(): Promise<void>;
}

export interface JournalStats {
  readonly batches: number;
  readonly records: number;
  readonly recordBytes: number;
}

export interface StreamFence {
  readonly stream: string;
  /** Lower epochs may not append to the stream any more. */
  readonly epoch: Epoch;
}

export interface JournalTerms {
  /** How long the first record of a batch may wait for others before the batch is flushed; 0 flushes in the next turn. What comes during a flush shares the next one in any case. */
  readonly gatherMs: number;
  /** A batch is flushed at once when it has so many bytes or records. */
  readonly flushBytes: number;
  readonly flushRecords: number;
  /** More than this waiting is refused with JOURNAL_OVERLOADED. */
  readonly gatherBytesMax: number;
  readonly recordBytesMax: number;
  /** A file is continued in a new one when it is this long. Not for journals in objects. */
  readonly segmentBytes: number;
  /** A flush that did not end after this long breaks the journal. Files cannot be waited for in any other way than patiently. */
  readonly flushTimeoutMs: number;
}

const MIB = 1024 * 1024;

export const JOURNAL_DEFAULTS: JournalTerms = {
  gatherMs: 0,
  flushBytes: MIB,
  flushRecords: 10_000,
  gatherBytesMax: 8 * MIB,
  recordBytesMax: MIB,
  segmentBytes: 64 * MIB,
  flushTimeoutMs: 30_000,
};

/** On S3 every flush costs a request, in time and in money. */
export const OBJECT_JOURNAL_DEFAULTS: JournalTerms = { ...JOURNAL_DEFAULTS, gatherMs: 20 };

export const JOURNAL_LIMITS = {
  streamIdBytesMax: 200,
  streamsMax: 16_384,
  /** A batch that claims more is damaged. */
  batchBytesMax: 64 * MIB,
} as const;

/** What all calls about a journal need. */
export interface JournalPorts {
  readonly clock: Clock;
  readonly random: Random;
}
