/** What a job has behind it, as bytes: part of every stored job, and all that memory keeps of it once the job has ended. */
import type { AttemptOutcome } from "../model/job-spec.ts";
import type { Attempt, Outcome, Past } from "../state/job.ts";
import { readList, writeList } from "./body.ts";
import { ByteReader, fromBinary } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";

export type StoredPast = Readonly<Past>;

const OUTCOMES: readonly Outcome["kind"][] = ["succeeded", "failed", "cancelled"];

const scratch = new ByteWriter(4 * 1024);

export function packPast(past: StoredPast): string {
  scratch.clear();
  writePast(scratch, past);
  return scratch.toBinary();
}

export function unpackPast(bytes: string): Past {
  return readPast(new ByteReader(fromBinary(bytes)));
}

export function writePast(out: ByteWriter, past: StoredPast): void {
  writeList(out, past.attempts, writeAttempt);
  out.whole(past.count);
  out.whole(past.countAtRestart);
  out.whole(past.lostLeases);
  out.byte(past.started ? 1 : 0);
  out.optional(past.cancelledAtMs);
}

export function readPast(from: ByteReader): Past {
  return {
    attempts: readList(from, readAttempt),
    count: from.whole(),
    countAtRestart: from.whole(),
    lostLeases: from.whole(),
    started: from.byte() === 1,
    cancelledAtMs: from.optional(),
  };
}

export function writeAttempt(out: ByteWriter, attempt: Attempt): void {
  out.whole(attempt.number);
  out.whole(attempt.relativeNumber);
  out.whole(attempt.startedAtMs);
  out.whole(attempt.finishedAtMs);
  out.text(attempt.worker);
  writeOutcome(out, attempt.outcome);
}

export function readAttempt(from: ByteReader): Attempt {
  return {
    number: from.whole(),
    relativeNumber: from.whole(),
    startedAtMs: from.whole(),
    finishedAtMs: from.whole(),
    worker: from.text(),
    outcome: readOutcome(from),
  };
}

export function writeOutcome(out: ByteWriter, outcome: Outcome): void {
  out.byte(OUTCOMES.indexOf(outcome.kind));
  if (outcome.kind === "failed") out.text(outcome.code);
  if (outcome.kind !== "cancelled") out.binary(outcome.data);
}

export function readOutcome(from: ByteReader): Outcome {
  const kind = knownCode(OUTCOMES, from.byte());
  const code = kind === "failed" ? from.text() : "";
  return { kind, code, data: kind === "cancelled" ? "" : from.binary() };
}

/** What `writeOutcome` would write of it. */
export function writeAttemptOutcome(out: ByteWriter, outcome: AttemptOutcome): void {
  out.byte(OUTCOMES.indexOf(outcome.kind));
  if (outcome.kind === "cancelled") return;
  if (outcome.kind === "failed") out.text(outcome.code);
  const data = outcome.kind === "failed" ? outcome.data : outcome.result;
  out.whole(data.length);
  out.bytes(data);
}

/** The value that a byte stands for. */
export function knownCode<T>(values: readonly T[], index: number): T {
  const value = values[index];
  if (value === undefined) throw new RangeError(`a record of the job queue has the unknown code ${index}`);
  return value;
}
