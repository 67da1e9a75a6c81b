/** A schedule: makes a job at each time that its cron expression names. */
import type { ScheduleSpec } from "../model/job-spec.ts";
import type { HeapItem } from "../structure/heap.ts";
import type { Tenant } from "./tenant.ts";

export class Schedule implements HeapItem {
  readonly tenant: Tenant;
  readonly id: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: ScheduleSpec["missed"];
  /** Encoded content of its jobs. */
  readonly body: string;
  /** Undefined: never again. */
  nextAtMs: number | undefined;
  slot = -1;
  /** Runs that it went through since it was last on time. Nobody keeps it: who opens the shard next begins anew. */
  behind = 0;

  constructor(
    tenant: Tenant,
    spec: Pick<ScheduleSpec, "id" | "cron" | "timeZone" | "missed">,
    body: string,
    nextAtMs: number | undefined,
  ) {
    this.tenant = tenant;
    this.id = spec.id;
    this.cron = spec.cron;
    this.timeZone = spec.timeZone;
    this.missed = spec.missed;
    this.body = body;
    this.nextAtMs = nextAtMs;
  }
}
