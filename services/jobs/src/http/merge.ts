/** Answers of many shards as one. */
import type { EngineStats, GroupView } from "../engine/index.ts";

export type MergedGroup = Omit<GroupView, "tenants"> & { tenants: GroupView["tenants"][number][] };

export function mergeGroups(parts: readonly (readonly GroupView[])[]): MergedGroup[] {
  const groups = new Map<string, MergedGroup>();
  for (const part of parts)
    for (const group of part) {
      const known = groups.get(group.group);
      groups.set(
        group.group,
        known === undefined ? { ...group, tenants: [...group.tenants] } : joined(known, group),
      );
    }
  return [...groups.values()].sort((a, b) => (a.group < b.group ? -1 : 1));
}

/** A tenant lies on one shard, so tenants never meet. */
function joined(a: MergedGroup, b: GroupView): MergedGroup {
  return {
    group: a.group,
    paused: a.paused || b.paused,
    ready: a.ready + b.ready,
    running: a.running + b.running,
    tenants: [...a.tenants, ...b.tenants],
  };
}

export function mergeStats(parts: readonly { readonly shard: string; readonly stats: EngineStats }[]) {
  const jobs = { scheduled: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0 };
  let [tenants, leases, schedules] = [0, 0, 0];
  for (const { stats } of parts) {
    for (const status of Object.keys(jobs) as (keyof typeof jobs)[]) jobs[status] += stats.jobs[status];
    tenants += stats.tenants;
    leases += stats.leases;
    schedules += stats.schedules;
  }
  const shards = parts.map(({ shard, stats }) => ({ shard, jobs: { ...stats.jobs }, leases: stats.leases }));
  return { jobs, tenants, leases, schedules, shards };
}
