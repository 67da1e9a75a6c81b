/** Where a journal's batches go: files of a folder, or objects. One batch is written at a time. */
import type { StreamFence } from "./contract.ts";
import type { BatchIdentity } from "./format/batch.ts";

export interface WriteOutcome {
  /** Whether the batch is durable now. If not, it was not written at all, and nobody will ever see it. */
  readonly durable: boolean;
  /** What somebody else said meanwhile: these streams, or the whole journal, belong to another tenure. Nothing of theirs in the batch may be acknowledged. */
  readonly fenced: "journal" | readonly StreamFence[];
}

/** What is to be written, and whose it is. */
export interface BatchBytes {
  readonly head: Buffer;
  readonly records: Buffer;
}

export interface JournalLog {
  /** Where it is, for messages. */
  readonly place: string;
  /** The sequence that the next batch must have, and who writes it. */
  readonly next: Omit<BatchIdentity, "atMs">;
  /** Streams that are known to be fenced from before. */
  readonly fences: readonly StreamFence[];
  /** Writes a batch with the sequence `next`. Throws when it cannot tell what became of it. */
  write(batch: BatchBytes): Promise<WriteOutcome>;
  trim(sequence: number): Promise<void>;
  close(): Promise<void>;
}
