/**
 * The records of one `apply`, as bytes for the journal. A record is a version, the wall clock, and operations one after the other; it is split between
 * operations when it gets long, because the journal bounds a record. Replaying a part of an `apply` is sound: every operation leaves a sound state.
 */
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";

const RECORD_VERSION = 1;
/** Far below what the journal takes: one more operation still fits, also one that fills a request. */
const SPLIT_BYTES = 384 * 1024;

/** Every operation there is. Numbers are for ever. */
export const OP = {
  enqueued: 1,
  imported: 2,
  leased: 3,
  ended: 4,
  lost: 5,
  givenBack: 6,
  cancelled: 7,
  restarted: 8,
  expedited: 9,
  deleted: 10,
  groupSet: 11,
  tenantSet: 12,
  floatingSet: 13,
  bucketSet: 14,
  schedulePut: 15,
  scheduleDeleted: 16,
  scheduleMoved: 17,
  joined: 18,
  mark: 19,
  endedForgotten: 20,
} as const;

export class RecordLog {
  readonly #out = new ByteWriter(64 * 1024);
  #records: Buffer[] = [];
  #wallMs = 0;

  begin(wallMs: number): void {
    this.#wallMs = wallMs;
  }

  /** Where the fields of the next operation go. */
  op(kind: number): ByteWriter {
    const out = this.#out;
    if (out.length >= SPLIT_BYTES) this.#split();
    if (out.length === 0) {
      out.byte(RECORD_VERSION);
      out.whole(this.#wallMs);
    }
    out.byte(kind);
    return out;
  }

  /** What was written since the last call; empty when nothing changed. */
  take(): readonly Buffer[] {
    if (this.#out.length === 0 && this.#records.length === 0) return NONE;
    if (this.#out.length > 0) this.#split();
    const records = this.#records;
    this.#records = [];
    return records;
  }

  #split(): void {
    this.#records.push(this.#out.copy());
    this.#out.clear();
  }
}

const NONE: readonly Buffer[] = [];

/** Opens a record for reading; what follows are operations until it is done. */
export function openRecord(bytes: Uint8Array): { readonly wallMs: number; readonly ops: ByteReader } {
  const ops = new ByteReader(bytes);
  const version = ops.byte();
  if (version !== RECORD_VERSION)
    throw new RangeError(`a record of the job queue has the unknown version ${version}`);
  return { wallMs: ops.whole(), ops };
}
