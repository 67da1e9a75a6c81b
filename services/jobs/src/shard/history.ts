/**
 * What a shard did in the last hour, in steps of ten seconds: changes of status, and how long jobs waited and ran. Kept in memory by whoever holds the shard, so a
 * move begins it anew. Times go into buckets whose bounds grow by a quarter power of ten, so that answers of many shards can be added up; only so many jobs of a
 * step are looked at, because looking costs more than counting.
 */
import { isFinal, type Effect, type JobName, type JobStatus, type JobView } from "../engine/index.ts";

export const STEP_MS = 10_000;
const STEPS_MAX = 360;
const SAMPLED_MAX = 200;
const GROUPS_MAX = 64;
const STATUSES: readonly JobStatus[] = ["scheduled", "running", "succeeded", "failed", "cancelled"];
/** The upper bounds of the buckets: 1 ms to ten days, and beyond. */
const BOUNDS: readonly number[] = Array.from({ length: 37 }, (_, index) => 10 ** (index / 4));

/** Counts in the order of `STATUSES`; times as counts by bucket. Plain data, as it goes over the wire. */
export interface HistoryStep {
  readonly atMs: number;
  readonly changes: readonly number[];
  readonly groups: Readonly<Record<string, readonly number[]>>;
  readonly waited: readonly number[];
  readonly ran: readonly number[];
}

interface Step {
  readonly atMs: number;
  readonly changes: number[];
  readonly groups: Map<string, number[]>;
  readonly waited: number[];
  readonly ran: number[];
  sampled: number;
}

export class History {
  readonly #wallMs: () => number;
  readonly #look: (name: JobName) => JobView | undefined;
  /** Oldest first. Steps in which nothing happened are not there. */
  readonly #steps: Step[] = [];

  constructor(wallMs: () => number, look: (name: JobName) => JobView | undefined) {
    this.#wallMs = wallMs;
    this.#look = look;
  }

  effects(effects: readonly Effect[]): void {
    let step: Step | undefined;
    for (const effect of effects) {
      if (effect.kind !== "status") continue;
      step ??= this.#step();
      const at = STATUSES.indexOf(effect.status);
      const { length } = effect.ids;
      step.changes[at]! += length;
      const group = groupOf(step, effect.group);
      if (group !== undefined) group[at]! += length;
      if (effect.status === "scheduled") continue;
      for (let index = 0; index < length && step.sampled < SAMPLED_MAX; index += 1) {
        step.sampled += 1;
        const ended = effect.forgotten?.[index];
        if (ended === undefined)
          this.#sample(step, effect.status, { tenant: effect.tenant, id: effect.ids[index]! });
        else count(step.ran, ended.finishedAtMs - ended.startedAtMs);
      }
    }
  }

  since(fromMs: number): readonly HistoryStep[] {
    return this.#steps
      .filter(({ atMs }) => atMs + STEP_MS > fromMs)
      .map(({ atMs, changes, groups, waited, ran }) => ({
        atMs,
        changes: [...changes],
        groups: Object.fromEntries(groups),
        waited: [...waited],
        ran: [...ran],
      }));
  }

  /** The job may have gone on since; then it is left out. */
  #sample(step: Step, status: JobStatus, name: JobName): void {
    const view = this.#look(name);
    if (view?.status !== status) return;
    const attempt = view.attempts.at(-1);
    if (status === "running") count(step.waited, view.statusAtMs - view.startAtMs);
    else if (isFinal(status) && attempt !== undefined) count(step.ran, view.statusAtMs - attempt.startedAtMs);
  }

  #step(): Step {
    const atMs = Math.floor(this.#wallMs() / STEP_MS) * STEP_MS;
    const last = this.#steps.at(-1);
    // A clock that was set back goes on in the last step.
    if (last !== undefined && last.atMs >= atMs) return last;
    const step: Step = {
      atMs,
      changes: zeros(STATUSES.length),
      groups: new Map(),
      waited: zeros(BOUNDS.length + 1),
      ran: zeros(BOUNDS.length + 1),
      sampled: 0,
    };
    this.#steps.push(step);
    if (this.#steps.length > STEPS_MAX) this.#steps.shift();
    return step;
  }
}

/** The time below which the share `q` of what was counted lies, as the upper bound of its bucket; undefined when nothing was counted. */
export function quantile(counts: readonly number[], q: number): number | undefined {
  const all = counts.reduce((sum, each) => sum + each, 0);
  if (all === 0) return undefined;
  let left = all * q;
  const at = counts.findIndex((each) => (left -= each) <= 0);
  return Math.round(BOUNDS[Math.min(at, BOUNDS.length - 1)]! * 10) / 10;
}

function groupOf({ groups }: Step, name: string): number[] | undefined {
  const known = groups.get(name);
  if (known !== undefined || groups.size >= GROUPS_MAX) return known;
  const made = zeros(STATUSES.length);
  groups.set(name, made);
  return made;
}

function count(buckets: number[], ms: number): void {
  const at = BOUNDS.findIndex((bound) => ms <= bound);
  buckets[at < 0 ? BOUNDS.length : at]! += 1;
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}
