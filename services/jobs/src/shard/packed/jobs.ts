/**
 * New jobs as they travel from a client to a shard. Plain ones, which most are, lie packed in one block of bytes in the form in which the shard keeps them, so that
 * nothing of them is taken apart on the way; the others go beside it as plain data, each with its place in the batch.
 */
import { ByteReader } from "../../engine/codec/byte-reader.ts";
import { ByteWriter } from "../../engine/codec/byte-writer.ts";
import { isPlainBody, writeBody } from "../../engine/codec/body.ts";
import {
  JOB_LIMITS,
  PRIORITY_DEFAULT,
  PRIORITY_MAX,
  type JobSpec,
  type PlainJob,
} from "../../engine/index.ts";

/** `add`: new jobs of one shard. Answers only for those that were not simply created. */
export interface Add {
  /** A version, then for each job: tenant, id, content. */
  readonly plain: Uint8Array;
  /** In the order of their places. */
  readonly others?: readonly PlacedJob[] | undefined;
}

type PlacedJob = readonly [index: number, job: JobSpec];

const VERSION = 1;
/** Version, length of the group, priority and flags of a plain body. */
const HEAD_BYTES = 4;
/** A name whose length in bytes is that in characters, and is one byte long itself. */
const SHORT_ASCII = /^[\x20-\x7e]{1,64}$/;

const scratch = new ByteWriter(64 * 1024);

export function packJobs(jobs: readonly JobSpec[]): Add {
  const out = scratch;
  const others: PlacedJob[] = [];
  out.clear();
  out.byte(VERSION);
  let group = "";
  for (let index = 0; index < jobs.length; index++) {
    const job = jobs[index] as JobSpec;
    if (!isPlain(job) || (job.group !== group && !SHORT_ASCII.test(job.group))) {
      others.push([index, job]);
      continue;
    }
    group = job.group;
    out.text(job.tenant);
    out.text(job.id);
    out.whole(HEAD_BYTES + group.length + job.payload.length);
    writeBody(out, job);
  }
  const plain = out.copy();
  return others.length === 0 ? { plain } : { plain, others };
}

/** Nothing but group, priority and payload, and nothing that the shard would have to complain about in the caller's words. */
function isPlain(job: JobSpec): boolean {
  const { priority = PRIORITY_DEFAULT } = job;
  return (
    job.startAtMs === undefined &&
    job.retry === undefined &&
    job.limits === undefined &&
    job.metadata === undefined &&
    job.timeoutMs === undefined &&
    job.retentionMs === undefined &&
    job.after === undefined &&
    job.onDependencyFailure === undefined &&
    job.dedupe === undefined &&
    typeof job.id === "string" &&
    typeof job.tenant === "string" &&
    Number.isInteger(priority) &&
    priority >= 0 &&
    priority <= PRIORITY_MAX
  );
}

/** Throws RangeError when the bytes are none of `packJobs`, a place is none of the batch, or there are too many: a job takes far more memory than ten bytes. */
export function unpackJobs({ plain, others = [] }: Add): (JobSpec | PlainJob)[] {
  const reader = new ByteReader(plain);
  if (reader.byte() !== VERSION) throw new RangeError("packed jobs have an unknown version");
  const jobs: (JobSpec | PlainJob)[] = [];
  let [tenant, group, next] = ["", "", 0];
  for (;;) {
    while (next < others.length && (others[next] as PlacedJob)[0] === jobs.length)
      jobs.push((others[next++] as PlacedJob)[1]);
    if (jobs.length > JOB_LIMITS.batchJobsMax)
      throw new RangeError(`a batch has at most ${JOB_LIMITS.batchJobsMax} jobs`);
    if (reader.done) break;
    tenant = reader.textLike(tenant);
    const id = reader.text();
    const body = reader.binary();
    if (!isPlainBody(body)) throw new RangeError("a packed job has other content than plain ones have");
    group = groupOf(body, group);
    jobs.push({ id, tenant, group, priority: body.charCodeAt(group.length + 2), body });
  }
  if (next < others.length) throw new RangeError("a job has a place beyond its batch");
  return jobs;
}

/** `known` itself when it is that: one string for all jobs of a group, and none that keeps the body alive. */
function groupOf(body: string, known: string): string {
  const length = body.charCodeAt(1);
  if (length === known.length && body.startsWith(known, 2)) return known;
  const group = Buffer.from(body.slice(2, 2 + length), "latin1").toString("latin1");
  if (!SHORT_ASCII.test(group)) throw new RangeError("a packed job has a group that must not be packed");
  return group;
}
