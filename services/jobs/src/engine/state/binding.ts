/** Ties a job to the keys of its limits for as long as it has not ended. A key is there while a job names it, or while what workers reported of it counts. */
import type { Content } from "../codec/body.ts";
import type { Limit } from "../model/job-spec.ts";
import type { Job } from "./job.ts";
import { LimitKey, limitName } from "./limit-key.ts";

export function bindLimits(job: Job, content: Content, wallMs: number): void {
  const { limits } = content;
  if (limits === undefined || limits.length === 0) return;
  const keys: LimitKey[] = [];
  for (const limit of limits) {
    const key = keyOf(job, limit, wallMs);
    if (keys.includes(key)) continue;
    key.uses += 1;
    keys.push(key);
  }
  job.limits = keys;
}

export function unbindLimits(job: Job): void {
  const { limits } = job;
  if (limits === undefined) return;
  job.limits = undefined;
  for (const key of limits) {
    key.uses -= 1;
    if (key.uses === 0 && key.floating?.reported !== true) job.tenant.limits?.delete(key.name);
  }
}

export function rateKey(limit: { readonly name: string; readonly uniqueKey: string }): string {
  return `${limit.name}\0${limit.uniqueKey}`;
}

function keyOf(job: Job, limit: Limit, wallMs: number): LimitKey {
  const { tenant } = job;
  const own = limit.kind === "rate" ? rateKey(limit) : limit.key;
  tenant.limits ??= new Map();
  const name = limitName(limit.kind, own);
  let key = tenant.limits.get(name);
  if (key === undefined) {
    key = new LimitKey(tenant, limit.kind, own, 0);
    tenant.limits.set(name, key);
  }
  if (limit.kind === "concurrency") key.max = limit.max;
  if (limit.kind === "floating") {
    const { refreshMs, metadata, defaultMax } = limit;
    key.floating ??= {
      refreshMs,
      metadata,
      refreshedAtMs: wallMs,
      reported: false,
      group: job.group,
      refresh: undefined,
      failures: 0,
    };
    key.floating.refreshMs = refreshMs;
    key.floating.metadata = metadata;
    key.floating.group = job.group;
    if (!key.floating.reported) key.max = defaultMax;
  }
  return key;
}
