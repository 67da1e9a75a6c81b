/**
 * Everything durable that is not a job: settings of tenants and groups, limits, buckets, dedupe keys, schedules, counters. It is small beside the jobs, and is
 * written as a whole by every checkpoint.
 */
import { readPairs, writePairs } from "../codec/body.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";
import type { ScheduleSpec } from "../model/job-spec.ts";
import { DedupeKey } from "../state/dedupe-key.ts";
import { LimitKey, limitName } from "../state/limit-key.ts";
import { Schedule } from "../state/schedule.ts";
import type { State } from "../state/state.ts";
import { WEIGHT_DEFAULT, type Tenant } from "../state/tenant.ts";

const VERSION = 1;
const END = 0;
const PART = { group: 1, tenant: 2, limit: 3, bucket: 4, dedupe: 5, schedule: 6 } as const;
const KINDS: readonly LimitKey["kind"][] = ["concurrency", "floating", "rate"];

export function encodeRest(state: State): Buffer {
  const out = new ByteWriter(64 * 1024);
  out.byte(VERSION);
  out.whole(state.lastSeq);
  out.whole(state.lastTask);
  out.whole(state.wallMs);
  for (const group of sorted(state.groups.values(), (each) => each.name)) {
    if (!group.paused) continue;
    out.byte(PART.group);
    out.text(group.name);
  }
  for (const tenant of sorted(state.tenants.values(), (each) => each.name))
    writeTenant(out, tenant, state.wallMs);
  out.byte(END);
  return out.copy();
}

function writeTenant(out: ByteWriter, tenant: Tenant, wallMs: number): void {
  if (tenant.paused || tenant.weight !== WEIGHT_DEFAULT) {
    out.byte(PART.tenant);
    out.text(tenant.name);
    out.byte(tenant.paused ? 1 : 0);
    out.double(tenant.weight);
  }
  for (const key of sorted(tenant.limits?.values(), (each) => each.name))
    if (key.kind !== "rate") writeLimit(out, key);
  for (const [key, { state, forgetAtMs }] of sorted(tenant.buckets?.entries(), ([each]) => each)) {
    if (forgetAtMs <= wallMs) continue;
    out.byte(PART.bucket);
    out.text(tenant.name);
    out.text(key);
    out.text(state);
    out.whole(forgetAtMs);
  }
  for (const entry of sorted(tenant.dedupes?.values(), (each) => each.key)) {
    const { key, next, current, openAtMs, firstAtMs } = entry;
    if (next === undefined && current === undefined && openAtMs <= wallMs) continue;
    out.byte(PART.dedupe);
    out.text(tenant.name);
    out.text(key);
    out.text(next?.id ?? "");
    out.text(current?.id ?? "");
    out.whole(openAtMs);
    out.whole(firstAtMs);
  }
  for (const schedule of sorted(tenant.schedules?.values(), (each) => each.id)) {
    out.byte(PART.schedule);
    out.text(tenant.name);
    out.text(schedule.id);
    out.text(schedule.cron);
    out.text(schedule.timeZone);
    out.text(schedule.missed);
    out.binary(schedule.body);
    out.optional(schedule.nextAtMs);
  }
}

function writeLimit(out: ByteWriter, key: LimitKey): void {
  out.byte(PART.limit);
  out.text(key.tenant.name);
  out.byte(KINDS.indexOf(key.kind));
  out.text(key.key);
  out.whole(key.max);
  const { floating } = key;
  if (floating === undefined) return;
  out.whole(floating.refreshMs);
  writePairs(out, floating.metadata, Object.keys(floating.metadata).sort());
  out.whole(floating.refreshedAtMs);
  out.byte(floating.reported ? 1 : 0);
  out.text(floating.group.name);
}

/** Into a state that has its jobs. */
export function restoreRest(state: State, bytes: Uint8Array): void {
  const from = new ByteReader(bytes);
  const version = from.byte();
  if (version !== VERSION)
    throw new RangeError(`a checkpoint of the job queue has the unknown version ${version}`);
  state.lastSeq = from.whole();
  state.lastTask = from.whole();
  state.wallMs = from.whole();
  for (let part = from.byte(); part !== END; part = from.byte()) {
    const name = from.text();
    if (part === PART.group) state.group(name).paused = true;
    else restorePart(state, state.tenant(name), part, from);
  }
}

function restorePart(state: State, tenant: Tenant, part: number, from: ByteReader): void {
  switch (part) {
    case PART.tenant:
      tenant.paused = from.byte() === 1;
      tenant.weight = from.double();
      break;
    case PART.limit:
      restoreLimit(state, tenant, from);
      break;
    case PART.bucket:
      tenant.buckets ??= new Map();
      tenant.buckets.set(from.text(), { state: from.text(), forgetAtMs: from.whole() });
      break;
    case PART.dedupe: {
      const entry = new DedupeKey(from.text());
      entry.next = tenant.jobs.get(from.text());
      entry.current = tenant.jobs.get(from.text());
      entry.openAtMs = from.whole();
      entry.firstAtMs = from.whole();
      if (entry.next !== undefined) entry.next.dedupe = entry;
      if (entry.current !== undefined) entry.current.dedupe = entry;
      tenant.dedupes ??= new Map();
      tenant.dedupes.set(entry.key, entry);
      break;
    }
    case PART.schedule: {
      const [id, cron, timeZone] = [from.text(), from.text(), from.text()];
      const missed = from.text() as ScheduleSpec["missed"];
      tenant.schedules ??= new Map();
      tenant.schedules.set(
        id,
        new Schedule(tenant, { id, cron, timeZone, missed }, from.binary(), from.optional()),
      );
      state.schedules += 1;
      break;
    }
    default:
      throw new RangeError(`a checkpoint of the job queue has the unknown part ${part}`);
  }
}

function restoreLimit(state: State, tenant: Tenant, from: ByteReader): void {
  const kind = KINDS[from.byte()] ?? "concurrency";
  const own = from.text();
  tenant.limits ??= new Map();
  const name = limitName(kind, own);
  let key = tenant.limits.get(name);
  if (key === undefined) {
    key = new LimitKey(tenant, kind, own, 0);
    tenant.limits.set(name, key);
  }
  key.max = from.whole();
  if (kind !== "floating") return;
  key.floating = {
    refreshMs: from.whole(),
    metadata: readPairs(from),
    refreshedAtMs: from.whole(),
    reported: from.byte() === 1,
    group: state.group(from.text()),
    refresh: undefined,
    failures: 0,
  };
}

/** In an order that does not depend on history, so that equal states are equal bytes. */
function sorted<T>(items: Iterable<T> | undefined, key: (item: T) => string): T[] {
  return Array.from(items ?? []).sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}
