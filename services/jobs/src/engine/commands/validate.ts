/** Says what is wrong with a job, a schedule or a name, in words that tell what would be right; undefined when nothing is. */
import type { Dedupe, JobSpec, Limit, PlainJob, RetryPolicy } from "../model/job-spec.ts";
import { PRIORITY_MAX } from "../model/job-spec.ts";
import { JOB_LIMITS } from "../model/limits.ts";

const MAX = Number.MAX_SAFE_INTEGER;
/** The year 10000; later times are mistakes of unit. */
const TIME_MAX_MS = 253_402_300_800_000;
const HALF_CHARACTER = /\p{Surrogate}/u;
const ODD_CHARACTER = /[\0\p{Surrogate}]/u;
/** Of a plain body, without its group: version, the group's length, priority, flags. */
const PLAIN_HEAD_BYTES = 4;
const SPAN_MAX_MS = 100 * 365 * 86_400_000;

export function isWholeIn(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

export function jobProblem(spec: JobSpec): string | undefined {
  return (
    nameProblem("a tenant", spec.tenant, JOB_LIMITS.tenantCharsMax) ??
    nameProblem("a job's id", spec.id, JOB_LIMITS.idCharsMax) ??
    contentProblem(spec)
  );
}

/** Its body is an encoding already, so that its payload is about as long. */
export function plainProblem({ tenant, id, group, priority, body }: PlainJob): string | undefined {
  const named =
    nameProblem("a tenant", tenant, JOB_LIMITS.tenantCharsMax) ??
    nameProblem("a job's id", id, JOB_LIMITS.idCharsMax) ??
    nameProblem("a task group", group, JOB_LIMITS.groupCharsMax);
  if (named !== undefined) return named;
  const payloadBytes = body.length - PLAIN_HEAD_BYTES - body.charCodeAt(1);
  return payloadProblem(payloadBytes) ?? priorityProblem(priority);
}

function payloadProblem(bytes: number): string | undefined {
  return bytes > JOB_LIMITS.payloadBytesMax
    ? `the payload has ${bytes} bytes, more than ${JOB_LIMITS.payloadBytesMax}`
    : undefined;
}

function priorityProblem(priority: number): string | undefined {
  return isWholeIn(priority, 0, PRIORITY_MAX)
    ? undefined
    : `a priority is a whole number from 0 (first) to ${PRIORITY_MAX} (last), not ${priority}`;
}

export function contentProblem(spec: Omit<JobSpec, "id" | "tenant">): string | undefined {
  const { group, payload, priority, startAtMs, timeoutMs, retentionMs, after } = spec;
  const named = nameProblem("a task group", group, JOB_LIMITS.groupCharsMax);
  if (named !== undefined) return named;
  const measured =
    payloadProblem(payload.length) ?? (priority === undefined ? undefined : priorityProblem(priority));
  if (measured !== undefined) return measured;
  if (startAtMs !== undefined && !isWholeIn(startAtMs, 0, TIME_MAX_MS))
    return `a start time is a whole number of milliseconds since 1970, not ${startAtMs}`;
  if (timeoutMs !== undefined && !isWholeIn(timeoutMs, 1, SPAN_MAX_MS))
    return `a timeout is a whole number of milliseconds, at least 1, not ${timeoutMs}`;
  if (retentionMs !== undefined && !isWholeIn(retentionMs, 0, SPAN_MAX_MS))
    return `a retention is a whole number of milliseconds, not ${retentionMs}`;
  if (after !== undefined && after.length > JOB_LIMITS.dependenciesMax)
    return `a job waits for at most ${JOB_LIMITS.dependenciesMax} others, not ${after.length}`;
  if (after !== undefined && after.length > 0 && spec.dedupe !== undefined)
    return "a job that waits for others cannot have a dedupe key";
  return (
    (spec.retry === undefined ? undefined : retryProblem(spec.retry)) ??
    (spec.metadata === undefined ? undefined : metadataProblem(spec.metadata)) ??
    (spec.limits === undefined ? undefined : limitsProblem(spec.limits)) ??
    (spec.dedupe === undefined ? undefined : dedupeProblem(spec.dedupe))
  );
}

export function nameProblem(what: string, name: string, charsMax: number): string | undefined {
  if (typeof name !== "string" || name === "") return `${what} may not be empty`;
  if (name.length > charsMax) return `${what} has at most ${charsMax} characters, not ${name.length}`;
  return isPrintable(name) || !ODD_CHARACTER.test(name)
    ? undefined
    : `${what} may not contain a NUL or half a character`;
}

/** Nothing but printable ASCII, which most names are: that is sooner seen than by an expression. */
function isPrintable(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

function retryProblem(retry: RetryPolicy): string | undefined {
  if (!isWholeIn(retry.retries, 0, JOB_LIMITS.retriesMax))
    return `a job is retried 0 to ${JOB_LIMITS.retriesMax} times, not ${retry.retries}`;
  if (!isWholeIn(retry.initialMs, 0, SPAN_MAX_MS) || !isWholeIn(retry.maxMs, 0, SPAN_MAX_MS))
    return "the waits of a retry policy are whole numbers of milliseconds";
  return Number.isFinite(retry.factor) && retry.factor >= 1 && retry.factor <= 1000
    ? undefined
    : `the factor of a retry policy is a number from 1 to 1000, not ${retry.factor}`;
}

function metadataProblem(metadata: Readonly<Record<string, string>>): string | undefined {
  const keys = Object.keys(metadata);
  if (keys.length > JOB_LIMITS.metadataPairsMax)
    return `a job has at most ${JOB_LIMITS.metadataPairsMax} pieces of metadata, not ${keys.length}`;
  for (const key of keys) {
    const named = nameProblem("a metadata key", key, JOB_LIMITS.metadataKeyCharsMax);
    if (named !== undefined) return named;
    if (key === "__proto__") return "a metadata key may not be __proto__";
    const value = metadata[key];
    if (
      typeof value !== "string" ||
      value.length > JOB_LIMITS.metadataValueCharsMax ||
      HALF_CHARACTER.test(value)
    )
      return `a metadata value is a text of at most ${JOB_LIMITS.metadataValueCharsMax} characters`;
  }
  return undefined;
}

function limitsProblem(limits: readonly Limit[]): string | undefined {
  if (limits.length > JOB_LIMITS.limitsPerJobMax)
    return `a job has at most ${JOB_LIMITS.limitsPerJobMax} limits, not ${limits.length}`;
  for (const limit of limits) {
    const problem = limitProblem(limit);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function limitProblem(limit: Limit): string | undefined {
  const key = limit.kind === "rate" ? `${limit.name}/${limit.uniqueKey}` : limit.key;
  const named = nameProblem("the key of a limit", key, JOB_LIMITS.limitKeyCharsMax);
  if (named !== undefined) return named;
  switch (limit.kind) {
    case "concurrency":
      return isWholeIn(limit.max, 1, MAX)
        ? undefined
        : `the maximum of a concurrency limit is a whole number, at least 1, not ${limit.max}`;
    case "floating":
      if (!isWholeIn(limit.defaultMax, 0, MAX)) return "the maximum of a floating limit is a whole number";
      if (!isWholeIn(limit.refreshMs, 1, SPAN_MAX_MS))
        return "the refresh interval of a floating limit is a whole number of milliseconds, at least 1";
      return metadataProblem(limit.metadata);
    case "rate": {
      const { limit: most, durationMs, hits, algorithm, behavior, burst, backoff } = limit;
      const numbers = [most, durationMs, hits, behavior, burst, backoff.initialMs, backoff.maxMs];
      if (!numbers.every((each) => isWholeIn(each, 0, MAX)))
        return "the numbers of a rate limit are whole numbers, 0 or more";
      if (algorithm !== 0 && algorithm !== 1)
        return `the algorithm of a rate limit is 0 (token bucket) or 1 (leaky bucket), not ${algorithm}`;
      return hits > 0 && most > 0 && hits > Math.max(most, burst)
        ? `a job that takes ${hits} of a rate limit of ${most} could never run`
        : undefined;
    }
  }
}

function dedupeProblem(dedupe: Dedupe): string | undefined {
  const named = nameProblem("a dedupe key", dedupe.key, JOB_LIMITS.limitKeyCharsMax);
  if (named !== undefined) return named;
  const spans =
    dedupe.mode === "debounce"
      ? [dedupe.waitMs, dedupe.maxWaitMs]
      : dedupe.mode === "throttle"
        ? [dedupe.windowMs]
        : [];
  return spans.every((span) => isWholeIn(span, 0, SPAN_MAX_MS))
    ? undefined
    : "the times of a dedupe key are whole numbers of milliseconds";
}
