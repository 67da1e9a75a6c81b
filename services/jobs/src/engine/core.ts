/** What the parts of the engine share during one `apply`. */
import type { Changes } from "./changes.ts";
import type { StoredJob } from "./codec/stored-job.ts";
import type { Refusal, RefusalCode } from "./model/command.ts";
import type { Effect } from "./model/effect.ts";
import type { EnginePorts, EngineTerms, Instant } from "./model/ports.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import type { Job } from "./state/job.ts";
import type { State } from "./state/state.ts";

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

export function statusEffect(job: Job): Effect {
  return {
    kind: "status",
    tenant: job.tenant.name,
    id: job.id,
    group: job.group.name,
    status: job.status,
  };
}

export const DONE = { done: true } as const;
