/**
 * One key of a limit, per tenant: its maximum, how many places leases hold, and who waits. Waiters are in one line per task group, because a place must never
 * be kept for a job that no worker will ask for while another group's could run.
 */
import { Heap } from "../structure/heap.ts";
import type { HeapItem } from "../structure/heap.ts";
import type { Group } from "./group.ts";
import { runsBefore, type Job } from "./job.ts";
import type { Tenant } from "./tenant.ts";

export interface Line {
  readonly group: Group;
  readonly waiters: Heap<Job>;
  /** Jobs of this line that were put back into their ready queue and have not been tried yet. */
  woken: number;
}

/** A worker is, or should be, asked for a new maximum. */
export interface Refresh {
  readonly key: LimitKey;
  /** 0 until a worker has it. */
  task: number;
  worker: string;
}

export class LimitKey implements HeapItem {
  readonly tenant: Tenant;
  readonly kind: "concurrency" | "floating" | "rate";
  readonly key: string;
  max: number;
  /** Jobs that have not ended and name this key. */
  uses = 0;
  /** Leases, and checks by an outside limiter, of such jobs. */
  held = 0;
  readonly lines: Line[] = [];
  /** Only of rates: nothing gets through before this. */
  blockedUntilMs = 0;
  /** In the timers: when it is unblocked, or due to be refreshed. */
  slot = -1;
  dueAtMs = 0;
  floating: Floating | undefined = undefined;

  constructor(tenant: Tenant, kind: LimitKey["kind"], key: string, max: number) {
    this.tenant = tenant;
    this.kind = kind;
    this.key = key;
    this.max = max;
  }

  /** Names it within its tenant. */
  get name(): string {
    return limitName(this.kind, this.key);
  }

  free(wallMs: number): number {
    if (this.kind === "rate") return wallMs >= this.blockedUntilMs ? 1 : 0;
    return this.max > this.held ? this.max - this.held : 0;
  }

  line(group: Group): Line {
    for (const line of this.lines) if (line.group === group) return line;
    const line = { group, waiters: new Heap<Job>(runsBefore), woken: 0 };
    this.lines.push(line);
    return line;
  }

  get waiting(): number {
    let sum = 0;
    for (const { waiters } of this.lines) sum += waiters.size;
    return sum;
  }
}

export interface Floating {
  refreshMs: number;
  metadata: Readonly<Record<string, string>>;
  refreshedAtMs: number;
  /** A worker reported `max`; until then it is the default of the last job. */
  reported: boolean;
  /** Whose workers are asked. */
  group: Group;
  refresh: Refresh | undefined;
  failures: number;
}

export function limitName(kind: LimitKey["kind"], key: string): string {
  return kind + ":" + key;
}
