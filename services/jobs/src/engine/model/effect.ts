/**
 * What the world should hear once the records of the same `apply` are durable, and not before. Effects are hints: none is lost by accident while the process
 * lives, but all are by a crash, so whoever acts on them must also be right without them.
 */
import type { Attempt } from "../state/job.ts";
import type { RateLimit } from "./job-spec.ts";
import type { JobStatus } from "./views.ts";

/** Jobs of a tenant and a group came to a status, one after the other. For whoever awaits their end, and for event streams. One for many, because it waits for the flush. */
interface StatusEffect {
  readonly kind: "status";
  readonly tenant: string;
  readonly group: string;
  readonly status: JobStatus;
  /** Only the engine adds to it, within the `apply` that makes it. */
  readonly ids: string[];
  /** Of jobs that have ended and of which nothing is kept, the last attempt of each: whoever hears of them cannot look them up. */
  readonly forgotten?: Attempt[] | undefined;
}

export type Effect =
  /** A group has tasks that may run: ask for workers that wait, and lease. Once per group and `apply`. */
  | { readonly kind: "ready"; readonly group: string }
  /** Tell the worker: the job was cancelled (finish soon), or the lease is over (stop; nothing will be accepted). */
  | {
      readonly kind: "stop";
      readonly worker: string;
      readonly task: number;
      readonly reason: "cancelled" | "timeout" | "lost";
    }
  | StatusEffect
  /** Only with an outside limiter: ask it, and answer with `rateChecked`, always. */
  | {
      readonly kind: "checkRate";
      readonly check: number;
      readonly tenant: string;
      readonly limits: readonly RateLimit[];
    };
