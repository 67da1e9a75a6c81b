/**
 * Calls to the shards of the job queue, wherever they are held: by tenant, by shard, or to all. It adds to the fleet's router what jobs need: the map of tenants
 * to shards, and patience while a shard is split or a map is not known yet. Used by clients outside the fleet and by gateways alike.
 */
import { RouterError, type FleetAccess } from "@keelson/runtime";
import { ShardMap } from "../shard/ranges.ts";
import { JobsError } from "./errors.ts";

export const SERVICE = "jobs";

export interface CallTerms {
  readonly timeoutMs: number;
  /** Writes that may be carried out twice: all that name what they change. */
  readonly idempotent?: boolean;
  readonly trace?: string | undefined;
  /** How long to wait for somebody to hold the shard, when that is less than the call may take. */
  readonly patienceMs?: number | undefined;
  /** The body is of several tenants: after a split no shard may have all of them, and asking again would not help. */
  readonly mayBeParted?: boolean | undefined;
}

/** Codes after which the same call may do better a moment later, on another shard or node perhaps. Nothing was carried out. */
const PASSING: ReadonlySet<string> = new Set([
  "NOT_IN_RANGE",
  "SPLITTING",
  "NO_HOLDER",
  "NO_SHARD",
  "JOBS_CLOSED",
  "UNREACHABLE",
  "WARMING",
  "BUDGET",
]);
/** Codes after which nobody knows whether it was; a call that may be carried out twice is repeated all the same. */
const UNSURE: ReadonlySet<string> = new Set([
  "TIMEOUT",
  "CUT",
  "STALE",
  "MOVED",
  "OUTCOME_UNKNOWN",
  "JOBS_UNKNOWN",
]);
const PAUSE_FIRST_MS = 20;
const PAUSE_MAX_MS = 500;
/** Then the map is looked at again: the shard may be gone for ever. */
const TRY_MS = 15_000;

export class ShardCalls {
  readonly access: FleetAccess;
  #ids: readonly string[] = [];
  #map = new ShardMap([]);

  constructor(access: FleetAccess) {
    this.access = access;
  }

  /** As the newest view that is known says. */
  get map(): ShardMap {
    const { ids } = this.access.shards(SERVICE);
    if (ids !== this.#ids) {
      this.#ids = ids;
      this.#map = new ShardMap(ids);
    }
    return this.#map;
  }

  shardOf(tenant: string): string {
    const shard = this.map.of(tenant);
    if (shard === undefined)
      throw new JobsError("NO_SHARD", "no shard of the job queue is known yet: start a node that offers it");
    return shard;
  }

  /** To the shard of a tenant, found anew when it was split meanwhile. */
  async byTenant(
    tenant: string,
    mode: "read" | "write",
    method: string,
    body: unknown,
    terms: CallTerms,
  ): Promise<unknown> {
    const deadline = performance.now() + terms.timeoutMs;
    for (let pauseMs = PAUSE_FIRST_MS; ; pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2)) {
      const leftMs = deadline - performance.now();
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next try comes after this one.
        return await this.byShard(this.shardOf(tenant), mode, method, body, {
          ...terms,
          timeoutMs: Math.max(1, Math.min(leftMs, TRY_MS)),
        });
      } catch (error) {
        if (!isPassing(error, terms.idempotent) || leftMs <= pauseMs) throw error;
        if (terms.mayBeParted === true && isParted(error)) throw error;
      }
      // oxlint-disable-next-line no-await-in-loop -- as above.
      await pause(pauseMs);
    }
  }

  async byShard(
    shard: string,
    mode: "read" | "write",
    method: string,
    body: unknown,
    terms: CallTerms,
  ): Promise<unknown> {
    const { timeoutMs, idempotent = true, trace, patienceMs } = terms;
    const request = { service: SERVICE, shard, method, mode, body, timeoutMs, idempotent };
    const answer = await this.access.call({
      ...request,
      ...(trace === undefined ? {} : { trace }),
      ...(patienceMs === undefined ? {} : { patienceMs }),
    });
    return answer.body;
  }

  stream(shard: string, method: string, body: unknown, signal: AbortSignal): AsyncIterable<unknown> {
    return this.access.stream({
      service: SERVICE,
      shard,
      method,
      mode: "read",
      body,
      openTimeoutMs: 10_000,
      signal,
    });
  }
}

export function isPassing(error: unknown, idempotent = true): boolean {
  if (!(error instanceof RouterError) && !(error instanceof JobsError)) return false;
  return PASSING.has(error.code) || (idempotent && UNSURE.has(error.code));
}

/** Some of the tenants that were named belong to another shard. */
export function isParted(error: unknown): boolean {
  return error instanceof RouterError && error.code === "NOT_IN_RANGE";
}

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal?.aborted === true) done();
    else signal?.addEventListener("abort", done, { once: true });
  });
}
