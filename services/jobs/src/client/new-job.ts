/**
 * A job as a caller writes it, and what is sent of it. Jobs of one process travel together, so each is looked at before it joins the others: what has the wrong
 * kind, or cannot be encoded, is its own caller's failure and nobody else's.
 */
import { JOB_LIMITS, type JobSpec, type Limit, type RateLimit, type RetryPolicy } from "../engine/index.ts";
import { oddFieldOf } from "../shard/shapes.ts";
import { JobsError } from "./errors.ts";
import { newJobId } from "./job-id.ts";
import { encodeValue } from "./values.ts";

/** What is left out of JobSpec's fields has the queue's default. */
export interface NewJob extends Omit<Partial<JobSpec>, "payload" | "group" | "retry" | "limits"> {
  /** The task group whose workers run it. */
  readonly group: string;
  /** Any plain data. */
  readonly payload?: unknown;
  /** Waits of a second, twice as long each time, at most a minute, with jitter, when left out. */
  readonly retry?: (Partial<RetryPolicy> & Pick<RetryPolicy, "retries">) | undefined;
  readonly limits?: readonly NewLimit[] | undefined;
}

type NewRateLimit = Partial<RateLimit> &
  Pick<RateLimit, "kind" | "name" | "uniqueKey" | "limit" | "durationMs">;
/** A rate limit takes one hit of a token bucket when it does not say. */
export type NewLimit = Exclude<Limit, RateLimit> | NewRateLimit;

const RETRY = { initialMs: 1_000, maxMs: 60_000, factor: 2, jitter: true };
const RATE = {
  hits: 1,
  algorithm: 0,
  behavior: 0,
  burst: 0,
  backoff: { initialMs: 100, maxMs: 10_000, factor: 2 },
};

/** Throws JobsError INVALID. */
export function specOf(job: NewJob, ownTenant: string): JobSpec {
  if (typeof job !== "object" || job === null) throw invalid("a job is an object with a group");
  const { id = newJobId(), tenant = ownTenant, group } = job;
  const payload = payloadOf(job.payload);
  const plain = isPlain(job);
  // Most jobs have nothing else, and one shape for all of them is read several times faster than copies of whatever a caller wrote.
  const spec: JobSpec = plain ? { id, tenant, group, payload } : { ...fullOf(job), id, tenant, payload };
  if (plain && typeof group === "string" && typeof id === "string" && typeof tenant === "string") return spec;
  const odd = oddFieldOf(spec);
  if (odd !== undefined) throw invalid(`the field ${odd} of a job does not have the right kind`);
  return spec;
}

function payloadOf(value: unknown): Uint8Array {
  let payload: Uint8Array;
  try {
    payload = encodeValue(value);
  } catch (error) {
    throw invalid(`the payload is no plain data: ${String(error)}`, error);
  }
  if (payload.length > JOB_LIMITS.payloadBytesMax)
    throw invalid(`the payload has ${payload.length} bytes, more than ${JOB_LIMITS.payloadBytesMax}`);
  return payload;
}

/** With what the caller left out of its parts. */
function fullOf({ retry, limits, ...rest }: NewJob): Omit<JobSpec, "id" | "tenant" | "payload"> {
  return {
    ...rest,
    ...(retry === undefined ? {} : { retry: { ...RETRY, ...retry } }),
    ...(limits === undefined ? {} : { limits: Array.isArray(limits) ? limits.map(fullLimit) : limits }),
  } as Omit<JobSpec, "id" | "tenant" | "payload">;
}

function fullLimit(limit: NewLimit): Limit {
  return limit?.kind === "rate" ? { ...RATE, ...limit } : limit;
}

/** It says nothing but whose it is, who runs it, and what with. */
function isPlain(job: NewJob): boolean {
  for (const key in job) if (!PLAIN_KEYS.has(key)) return false;
  return true;
}

const PLAIN_KEYS: ReadonlySet<string> = new Set(["id", "tenant", "group", "payload"]);

function invalid(message: string, cause?: unknown): JobsError {
  return new JobsError("INVALID", message, cause === undefined ? {} : { cause });
}
