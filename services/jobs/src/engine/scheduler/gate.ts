/**
 * Whether all limits of a job have room for it now. Nothing is taken here but hits of rate limits, and those only if every limit lets the job through; places
 * are taken by the lease itself.
 */
import { decodeBody } from "../codec/body.ts";
import type { Core } from "../core.ts";
import type { RateLimit } from "../model/job-spec.ts";
import type { RateAlgorithm, RateAnswer } from "../model/ports.ts";
import { rateKey } from "../state/binding.ts";
import type { Job } from "../state/job.ts";
import { limitName, type LimitKey } from "../state/limit-key.ts";

export type Passage =
  | { readonly kind: "open" }
  | { readonly kind: "shut"; readonly by: LimitKey }
  /** Ask an outside limiter. */
  | { readonly kind: "ask"; readonly limits: readonly RateLimit[] };

const OPEN: Passage = { kind: "open" };
/** After a refusal that names no time and a policy that names none either. */
const BACKOFF_MIN_MS = 10;

export function tryGate(core: Core, job: Job): Passage {
  const { limits } = job;
  if (limits === undefined) return OPEN;
  if (job.check !== undefined) {
    // The outside limiter said yes, and the job has its places; the lease takes them again.
    core.scheduler.useCheck(job);
    return OPEN;
  }
  const { wallMs } = core.state;
  let rated = false;
  for (const key of limits) {
    if (key.free(wallMs) === 0) return { kind: "shut", by: key };
    if (key.kind === "rate") rated = true;
  }
  if (!rated) return OPEN;
  const rates = (decodeBody(job.body).limits ?? []).filter((limit) => limit.kind === "rate");
  const { rates: algorithm } = core.ports;
  return algorithm === undefined ? { kind: "ask", limits: rates } : hitAll(core, job, rates, algorithm);
}

/** All buckets, or none. */
function hitAll(core: Core, job: Job, rates: readonly RateLimit[], algorithm: RateAlgorithm): Passage {
  const { tenant } = job;
  const { wallMs } = core.state;
  const answers = new Map<string, RateAnswer>();
  for (const limit of rates) {
    const key = rateKey(limit);
    const bucket = tenant.buckets?.get(key);
    const answer = algorithm.hit(answers.get(key)?.state ?? bucket?.state, limit, wallMs);
    if (!answer.allowed) {
      const by = tenant.limits?.get(limitName("rate", key)) as LimitKey;
      core.scheduler.block(by, retryAt(wallMs, limit, answer.retryAtMs));
      return { kind: "shut", by };
    }
    answers.set(key, answer);
  }
  for (const [key, { state, forgetAtMs }] of answers)
    core.changes.bucketSet(tenant.name, key, state, forgetAtMs);
  return OPEN;
}

/** Strictly later than now, so that time passes between two tries. */
export function retryAt(wallMs: number, limit: RateLimit, saidMs: number | undefined): number {
  const waitMs = saidMs === undefined ? limit.backoff.initialMs : saidMs - wallMs;
  return wallMs + Math.max(1, saidMs === undefined ? Math.max(BACKOFF_MIN_MS, waitMs) : Math.ceil(waitMs));
}
