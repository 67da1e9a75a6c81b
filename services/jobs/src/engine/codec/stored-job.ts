/** A whole job as pages hold it: active ones in checkpoints, ended ones for as long as they are kept. Versioned; frozen by samples in testdata/. */
import type { JobStatus } from "../model/views.ts";
import type { Input, Job } from "../state/job.ts";
import { readList, writeList } from "./body.ts";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { knownCode, readOutcome, readPast, writeOutcome, writePast, type StoredPast } from "./past.ts";

export interface StoredJob {
  readonly seq: number;
  readonly tenant: string;
  readonly id: string;
  readonly body: string;
  readonly enqueuedAtMs: number;
  readonly startAtMs: number;
  readonly status: JobStatus;
  readonly statusAtMs: number;
  readonly past: StoredPast | undefined;
  readonly flow: { readonly missing: number; readonly inputs: readonly Input[] } | undefined;
  readonly merged: readonly string[];
  readonly lease: StoredLease | undefined;
}

interface StoredLease {
  readonly task: number;
  readonly worker: string;
  readonly startedAtMs: number;
  readonly leaseMs: number;
}

const STATUSES: readonly JobStatus[] = ["scheduled", "running", "succeeded", "failed", "cancelled"];

const VERSION = 1;
const HAS = { past: 1, flow: 2, merged: 4, lease: 8 } as const;

export function storeJob(job: Job): StoredJob {
  const { lease } = job;
  return {
    seq: job.seq,
    tenant: job.tenant.name,
    id: job.id,
    body: job.body,
    enqueuedAtMs: job.enqueuedAtMs,
    startAtMs: job.startAtMs,
    status: job.status,
    statusAtMs: job.statusAtMs,
    past: job.past,
    flow: job.flow,
    merged: job.merged ?? NO_IDS,
    lease,
  };
}

const NO_IDS: readonly string[] = [];

/** About what `writeStoredJob` takes for it: all that may be long, and something for the rest. */
export function storedBytes({ id, body, past, flow, merged }: StoredJob): number {
  let bytes = 100 + id.length + body.length;
  if (past !== undefined) for (const { outcome } of past.attempts) bytes += 50 + outcome.data.length;
  if (flow !== undefined)
    for (const input of flow.inputs) bytes += input.id.length + input.outcome.data.length;
  for (const each of merged) bytes += each.length;
  return bytes;
}

/** The same as `writeStoredJob` of a job that has ended, without making anything of what is packed. */
export function writeEndedJob(out: ByteWriter, job: Job): void {
  const { endedPast } = job;
  if (endedPast === undefined || job.flow !== undefined || job.merged !== undefined)
    return writeStoredJob(out, storeJob(job));
  out.byte(VERSION);
  out.byte(HAS.past);
  out.whole(job.seq);
  out.text(job.tenant.name);
  out.text(job.id);
  out.binary(job.body);
  out.whole(job.enqueuedAtMs);
  out.whole(job.startAtMs);
  out.byte(STATUSES.indexOf(job.status));
  out.whole(job.statusAtMs);
  out.rest(endedPast);
}

export function writeStoredJob(out: ByteWriter, job: StoredJob): void {
  const { past, flow, lease, merged } = job;
  out.byte(VERSION);
  out.byte(
    (past === undefined ? 0 : HAS.past) |
      (flow === undefined ? 0 : HAS.flow) |
      (merged.length === 0 ? 0 : HAS.merged) |
      (lease === undefined ? 0 : HAS.lease),
  );
  out.whole(job.seq);
  out.text(job.tenant);
  out.text(job.id);
  out.binary(job.body);
  out.whole(job.enqueuedAtMs);
  out.whole(job.startAtMs);
  out.byte(STATUSES.indexOf(job.status));
  out.whole(job.statusAtMs);
  if (past !== undefined) writePast(out, past);
  if (flow !== undefined) {
    out.whole(flow.missing);
    writeList(out, flow.inputs, writeInput);
  }
  if (merged.length > 0) writeList(out, merged, (to, id) => to.text(id));
  if (lease !== undefined) {
    out.whole(lease.task);
    out.text(lease.worker);
    out.whole(lease.startedAtMs);
    out.whole(lease.leaseMs);
  }
}

export function readStoredJob(from: ByteReader): StoredJob {
  const version = from.byte();
  if (version !== VERSION) throw new RangeError(`a stored job has the unknown version ${version}`);
  const has = from.byte();
  return {
    seq: from.whole(),
    tenant: from.text(),
    id: from.text(),
    body: from.binary(),
    enqueuedAtMs: from.whole(),
    startAtMs: from.whole(),
    status: knownCode(STATUSES, from.byte()),
    statusAtMs: from.whole(),
    past: has & HAS.past ? readPast(from) : undefined,
    flow: has & HAS.flow ? { missing: from.whole(), inputs: readList(from, readInput) } : undefined,
    merged: has & HAS.merged ? readList(from, (each) => each.text()) : NO_IDS,
    lease:
      has & HAS.lease
        ? { task: from.whole(), worker: from.text(), startedAtMs: from.whole(), leaseMs: from.whole() }
        : undefined,
  };
}

export function writeInput(out: ByteWriter, input: Input): void {
  out.text(input.id);
  writeOutcome(out, input.outcome);
  out.byte(input.omitted ? 1 : 0);
}

export function readInput(from: ByteReader): Input {
  return { id: from.text(), outcome: readOutcome(from), omitted: from.byte() === 1 };
}
