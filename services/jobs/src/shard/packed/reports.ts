/** Reports of tasks as they travel from a worker to a shard: packed, with results in the form in which the shard keeps them. */
import { ByteReader } from "../../engine/codec/byte-reader.ts";
import { ByteWriter } from "../../engine/codec/byte-writer.ts";
import { readOutcome, writeAttemptOutcome } from "../../engine/codec/past.ts";
import { JOB_LIMITS, type AttemptOutcome, type StoredReport } from "../../engine/index.ts";

const VERSION = 1;

const scratch = new ByteWriter(64 * 1024);

export interface Report {
  readonly task: number;
  readonly outcome: AttemptOutcome;
}

export function packReports(reports: readonly Report[]): Buffer {
  const out = scratch;
  out.clear();
  out.byte(VERSION);
  for (const { task, outcome } of reports) {
    out.whole(task);
    writeAttemptOutcome(out, outcome);
  }
  return out.copy();
}

/** Throws RangeError when the bytes are none of `packReports`, or of too many: a refusal takes far more memory than the two bytes of a report. */
export function unpackReports(bytes: Uint8Array): StoredReport[] {
  const reader = new ByteReader(bytes);
  if (reader.byte() !== VERSION) throw new RangeError("packed reports have an unknown version");
  const reports: StoredReport[] = [];
  while (!reader.done) {
    if (reports.length >= JOB_LIMITS.batchJobsMax)
      throw new RangeError(`a batch has at most ${JOB_LIMITS.batchJobsMax} reports`);
    reports.push({ task: reader.whole(), outcome: readOutcome(reader) });
  }
  return reports;
}
