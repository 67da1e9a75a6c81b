/** A stream that is open for appending. It knows its place in the batch that gathers, so that appending looks nothing up. */
import type { Epoch } from "@keelson/kernel";
import type { JournalStream } from "./contract.ts";
import type { JournalError } from "./errors.ts";
import { encodeStream } from "./format/batch.ts";
import type { BatchEntry } from "./gathering.ts";

/** What takes its records: the group commit. */
export interface RecordSink {
  append(stream: OpenStream, record: Uint8Array): Promise<number>;
}

export class OpenStream implements JournalStream {
  readonly id: string;
  readonly epoch: Epoch;
  /** Its line of a batch's index, but for the counts. */
  readonly encoded: Buffer;
  /** Its entry in the batch that gathers now. */
  entry: BatchEntry | undefined;
  /** Why it takes no more records. */
  ended: JournalError | undefined;
  readonly #sink: RecordSink;

  constructor(sink: RecordSink, id: string, epoch: Epoch) {
    this.#sink = sink;
    this.id = id;
    this.epoch = epoch;
    this.encoded = encodeStream(id, epoch);
  }

  append(record: Uint8Array): Promise<number> {
    return this.#sink.append(this, record);
  }
}
