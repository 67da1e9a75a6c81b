/** New jobs, repeated ones, triggers, and jobs with a past. */
import { decodeBody, encodeBody, type Content } from "../codec/body.ts";
import type { StoredJob } from "../codec/stored-job.ts";
import { outcomeOf } from "../changes.ts";
import { recalledJob, refuse, tellStatus, type Core } from "../core.ts";
import type { Answer, Command, Enqueued, Refusal } from "../model/command.ts";
import type { Dedupe, ImportedJob, JobSpec, PlainJob } from "../model/job-spec.ts";
import { PRIORITY_DEFAULT } from "../model/job-spec.ts";
import { JOB_LIMITS } from "../model/limits.ts";
import { isFinal, type JobStatus } from "../model/views.ts";
import type { DedupeKey } from "../state/dedupe-key.ts";
import type { Attempt, Input, Job } from "../state/job.ts";
import { outcomeProblem, stored } from "./reporting.ts";
import { isWholeIn, jobProblem, plainProblem } from "./validate.ts";

export function enqueue(core: Core, { jobs }: Command<"enqueue">): Answer<"enqueue"> {
  return jobs.map((spec) => enqueueOne(core, spec));
}

export function add(core: Core, { jobs }: Command<"add">): Answer<"add"> {
  const odd: [number, Enqueued | Refusal][] = [];
  for (let index = 0; index < jobs.length; index++) {
    const answer = enqueueOne(core, jobs[index] as JobSpec | PlainJob);
    if ("refused" in answer || answer.outcome !== "created") odd.push([index, answer]);
  }
  return odd;
}

function enqueueOne(core: Core, spec: JobSpec | PlainJob): Enqueued | Refusal {
  if ("body" in spec) {
    const problem = plainProblem(spec);
    return problem === undefined ? enqueueBody(core, spec, spec.body, spec) : refuse("INVALID", problem);
  }
  const problem = jobProblem(spec);
  if (problem !== undefined) return refuse("INVALID", problem);
  return enqueueBody(core, spec, encodeBody(spec), contentOf(spec));
}

function contentOf(spec: JobSpec): Content {
  return { ...spec, priority: spec.priority ?? PRIORITY_DEFAULT };
}

/** The spec is sound, and `body` is it. */
export function enqueueBody(
  core: Core,
  name: { readonly tenant: string; readonly id: string },
  body: string,
  content: Content,
): Enqueued | Refusal {
  const known = core.state.find(name.tenant, name.id) ?? recalledJob(core, name);
  if (known !== undefined) return repeated(known, body, content);
  const inputs = content.after === undefined ? NO_INPUTS : resolve(core, name.tenant, content.after);
  if ("refused" in inputs) return inputs;
  const { wallMs } = core.state;
  let startAtMs = content.startAtMs ?? wallMs;
  if (content.dedupe !== undefined) {
    const entry = core.state.tenants.get(name.tenant)?.dedupes?.get(content.dedupe.key);
    const joined = entry === undefined ? undefined : join(core, entry, content.dedupe, name.id, body);
    if (joined !== undefined) return joined;
    startAtMs = Math.max(startAtMs, firstStart(content.dedupe, entry, wallMs));
  }
  const job = core.changes.enqueued(name, body, content, startAtMs, inputs);
  if (job.status === "scheduled") core.scheduler.place(job);
  tendLimits(core, job);
  tellStatus(core, job);
  return { id: name.id, outcome: "created" };
}

/** A job with this id exists. The content of a job that triggers joined is no longer what its first trigger said. */
function repeated(known: Job | StoredJob, body: string, content: Content): Enqueued | Refusal {
  const same =
    known.body === body ||
    ((known.merged?.length ?? 0) > 0 &&
      content.dedupe !== undefined &&
      decodeBody(known.body).dedupe?.key === content.dedupe.key);
  return same
    ? { id: known.id, outcome: "same" }
    : refuse("CONFLICT", `job ${known.id} already exists with other content`);
}

/** A new job may have raised a maximum, and may be the first to use a floating limit. */
export function tendLimits(core: Core, { limits }: Job): void {
  if (limits === undefined) return;
  for (const key of limits) {
    core.scheduler.wake(key);
    core.scheduler.tend(key);
  }
}

const NO_INPUTS: readonly Input[] = [];

/** What is known of the jobs to wait for: outcomes of those that have ended, as much of them as a job is given. The rest need not be in the record either. */
function resolve(core: Core, tenant: string, after: readonly string[]): readonly Input[] | Refusal {
  const inputs: Input[] = [];
  let bytes = 0;
  for (const id of new Set(after)) {
    const other = core.state.find(tenant, id) ?? recalledJob(core, { tenant, id });
    if (other === undefined)
      return refuse("DEPENDENCY_NOT_FOUND", `job ${id}, which is to be waited for, does not exist`);
    if (!isFinal(other.status)) continue;
    const outcome = outcomeOf(other);
    const { length } = outcome.data;
    const fits = bytes + length <= JOB_LIMITS.inputBytesMax && length <= core.inputBytesLeft;
    if (fits) {
      bytes += length;
      core.inputBytesLeft -= length;
    }
    inputs.push({ id, outcome: fits ? outcome : { ...outcome, data: "" }, omitted: !fits });
  }
  return inputs;
}

function firstStart(dedupe: Dedupe, entry: DedupeKey | undefined, wallMs: number): number {
  if (dedupe.mode === "debounce") return wallMs + Math.min(dedupe.waitMs, dedupe.maxWaitMs);
  return dedupe.mode === "throttle" ? (entry?.openAtMs ?? 0) : 0;
}

/** Makes a trigger part of the key's job that has not started; undefined when there is none. */
function join(
  core: Core,
  entry: DedupeKey,
  dedupe: Dedupe,
  trigger: string,
  body: string,
): Enqueued | undefined {
  for (const job of [entry.next, entry.current])
    if (job?.merged?.includes(trigger) === true) return { id: job.id, outcome: "same" };
  const { next } = entry;
  if (next === undefined) return undefined;
  core.scheduler.unplace(next);
  let { startAtMs } = next;
  if (dedupe.mode === "debounce")
    startAtMs = Math.min(core.state.wallMs + dedupe.waitMs, entry.firstAtMs + dedupe.maxWaitMs);
  core.changes.joined(next, trigger, dedupe.mode === "unique" ? undefined : body, startAtMs);
  core.scheduler.place(next);
  tendLimits(core, next);
  return { id: next.id, outcome: "joined" };
}

export function importJobs(core: Core, { jobs }: Command<"import">): Answer<"import"> {
  return jobs.map((spec) => importOne(core, spec));
}

function importOne(core: Core, spec: ImportedJob): (Enqueued & { status: JobStatus }) | Refusal {
  const problem = jobProblem(spec) ?? pastProblem(spec);
  if (problem !== undefined) return refuse("INVALID", problem);
  const { enqueuedAtMs, attempts: given, ...job } = spec;
  const body = encodeBody(job);
  const content = contentOf(job);
  const known = core.state.find(spec.tenant, spec.id) ?? recalledJob(core, spec);
  if (known !== undefined) {
    const answer = repeated(known, body, content);
    return "refused" in answer ? answer : { ...answer, status: known.status };
  }
  const attempts: Attempt[] = given.map(({ outcome, startedAtMs, finishedAtMs }, index) => ({
    number: index + 1,
    relativeNumber: index + 1,
    startedAtMs,
    finishedAtMs,
    worker: "",
    outcome: stored(outcome),
  }));
  const last = attempts.at(-1)?.outcome.kind;
  const exhausted = attempts.length > (job.retry?.retries ?? 0);
  const status = last === undefined || (last === "failed" && !exhausted) ? "scheduled" : last;
  const startAtMs = job.startAtMs ?? core.state.wallMs;
  const made = core.changes.imported(spec, body, content, startAtMs, enqueuedAtMs, attempts, status);
  if (status === "scheduled") core.scheduler.place(made);
  tendLimits(core, made);
  tellStatus(core, made);
  return { id: spec.id, outcome: "created", status };
}

function pastProblem(spec: ImportedJob): string | undefined {
  if (spec.after !== undefined || spec.dedupe !== undefined)
    return "an imported job cannot wait for others or have a dedupe key";
  if (spec.attempts.length > JOB_LIMITS.attemptsKeptMax)
    return `an imported job has at most ${JOB_LIMITS.attemptsKeptMax} attempts`;
  if (!isWholeIn(spec.enqueuedAtMs, 0, Number.MAX_SAFE_INTEGER))
    return "a time is a whole number of milliseconds";
  for (const { outcome, startedAtMs, finishedAtMs } of spec.attempts) {
    if (!isWholeIn(startedAtMs, 0, finishedAtMs) || !isWholeIn(finishedAtMs, 0, Number.MAX_SAFE_INTEGER))
      return "an attempt starts before it finishes, both in whole milliseconds since 1970";
    const problem = outcomeProblem(outcome);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
