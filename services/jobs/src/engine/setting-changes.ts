/** Operations on everything that is not a job: groups, tenants, limits, buckets, schedules. The part of `Changes` that jobs do not need. */
import type { RecordLog } from "./codec/record-log.ts";
import { OP } from "./codec/record-log.ts";
import type { ScheduleSpec } from "./model/job-spec.ts";
import type { LimitKey } from "./state/limit-key.ts";
import { Schedule } from "./state/schedule.ts";
import type { State } from "./state/state.ts";

/** Fewer keys than this are not worth looking through for old ones. */
export const SWEEP_MIN = 32;

export class SettingChanges {
  readonly #state: State;
  readonly #log: RecordLog;
  /** False while records are replayed. */
  protected writes = true;

  constructor(state: State, log: RecordLog) {
    this.#state = state;
    this.#log = log;
  }

  set logging(on: boolean) {
    this.writes = on;
  }

  groupSet(name: string, paused: boolean): void {
    if (this.writes) {
      const out = this.#log.op(OP.groupSet);
      out.text(name);
      out.byte(paused ? 1 : 0);
    }
    this.#state.group(name).paused = paused;
  }

  tenantSet(name: string, paused: boolean, weight: number): void {
    if (this.writes) {
      const out = this.#log.op(OP.tenantSet);
      out.text(name);
      out.byte(paused ? 1 : 0);
      out.double(weight);
    }
    const tenant = this.#state.tenant(name);
    tenant.paused = paused;
    tenant.weight = weight;
    if (tenant.isEmpty) this.#state.tenants.delete(name);
  }

  floatingSet(key: LimitKey, max: number): void {
    if (this.writes) {
      const out = this.#log.op(OP.floatingSet);
      out.text(key.tenant.name);
      out.text(key.key);
      out.whole(max);
    }
    key.max = max;
    if (key.floating === undefined) return;
    key.floating.reported = true;
    key.floating.refreshedAtMs = this.#state.wallMs;
  }

  bucketSet(tenantName: string, key: string, state: string, forgetAtMs: number): void {
    if (this.writes) {
      const out = this.#log.op(OP.bucketSet);
      out.text(tenantName);
      out.text(key);
      out.text(state);
      out.whole(forgetAtMs);
    }
    const tenant = this.#state.tenant(tenantName);
    tenant.buckets ??= new Map();
    tenant.buckets.set(key, { state, forgetAtMs });
    if (tenant.buckets.size <= 2 * tenant.bucketsSwept) return;
    const { wallMs } = this.#state;
    for (const [each, bucket] of tenant.buckets) if (bucket.forgetAtMs <= wallMs) tenant.buckets.delete(each);
    tenant.bucketsSwept = Math.max(tenant.buckets.size, SWEEP_MIN);
  }

  schedulePut(
    tenantName: string,
    spec: Pick<ScheduleSpec, "id" | "cron" | "timeZone" | "missed">,
    body: string,
    nextAtMs: number | undefined,
  ): Schedule {
    if (this.writes) {
      const out = this.#log.op(OP.schedulePut);
      out.text(tenantName);
      out.text(spec.id);
      out.text(spec.cron);
      out.text(spec.timeZone);
      out.text(spec.missed);
      out.binary(body);
      out.optional(nextAtMs);
    }
    const tenant = this.#state.tenant(tenantName);
    tenant.schedules ??= new Map();
    if (!tenant.schedules.has(spec.id)) this.#state.schedules += 1;
    const schedule = new Schedule(tenant, spec, body, nextAtMs);
    tenant.schedules.set(spec.id, schedule);
    return schedule;
  }

  scheduleDeleted(schedule: Schedule): void {
    if (this.writes) this.#scheduleOp(OP.scheduleDeleted, schedule);
    const { tenant } = schedule;
    if (tenant.schedules?.delete(schedule.id) === true) this.#state.schedules -= 1;
    if (tenant.isEmpty) this.#state.tenants.delete(tenant.name);
  }

  scheduleMoved(schedule: Schedule, nextAtMs: number | undefined): void {
    if (this.writes) this.#scheduleOp(OP.scheduleMoved, schedule).optional(nextAtMs);
    schedule.nextAtMs = nextAtMs;
  }

  #scheduleOp(kind: number, schedule: Schedule): ReturnType<RecordLog["op"]> {
    const out = this.#log.op(kind);
    out.text(schedule.tenant.name);
    out.text(schedule.id);
    return out;
  }
}
