/** What the parts of the engine share during one `apply`. */
import type { Changes } from "./changes.ts";
import type { StoredJob } from "./codec/stored-job.ts";
import type { JobName, Refusal, RefusalCode } from "./model/command.ts";
import type { Effect } from "./model/effect.ts";
import type { EnginePorts, EngineTerms, Instant } from "./model/ports.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import type { Job } from "./state/job.ts";
import { jobKey, type State } from "./state/state.ts";

export interface Core {
  readonly state: State;
  readonly changes: Changes;
  readonly scheduler: Scheduler;
  readonly ports: EnginePorts;
  readonly terms: EngineTerms;
  /** Of this `apply`. */
  now: Instant;
  effects: Effect[];
  /** Ended jobs that were looked up for this `apply`, by `tenant\0id`. */
  recalled: ReadonlyMap<string, StoredJob>;
  /** What jobs enqueued in this `apply` may still be given of results that are known already. */
  inputBytesLeft: number;
  /** The last number given to a check, and to a refresh task. Only this process knows them. */
  checkNumber: number;
  refreshNumber: number;
}

export function refuse(refused: RefusalCode, message: string): Refusal {
  return { refused, message };
}

/** An ended job that was looked up for this `apply`. As a rule none was, and then its key is not made either. */
export function recalledJob({ recalled }: Core, name: JobName): StoredJob | undefined {
  return recalled.size === 0 ? undefined : recalled.get(jobKey(name));
}

/** A job's status has changed. */
export function tellStatus({ effects }: Core, { id, tenant, group, status, forgotten }: Job): void {
  const last = effects.at(-1);
  if (
    last?.kind === "status" &&
    last.status === status &&
    last.tenant === tenant.name &&
    last.group === group.name &&
    (last.forgotten === undefined) === (forgotten === undefined)
  ) {
    last.ids.push(id);
    if (forgotten !== undefined) last.forgotten?.push(forgotten);
  } else {
    const ends = forgotten === undefined ? undefined : [forgotten];
    effects.push({
      kind: "status",
      tenant: tenant.name,
      group: group.name,
      status,
      ids: [id],
      forgotten: ends,
    });
  }
}

export const DONE = { done: true } as const;
