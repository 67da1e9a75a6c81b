/** Replicas one by one, in the order of their services and shards: who holds each, where it should be, and what is in the way. */
import { replicaKey, shardIds, shardKey } from "@keelson/kernel";
import type { ReplicaState, ReplicaStatus, ShardFilter, ShardPage } from "./contract.ts";
import type { FleetFacts } from "./facts.ts";
import type { Plans } from "./plans.ts";
import type { StatusTerms } from "./status.ts";

export const shardsPageMax = 1_000;
const PAGE = 100;

export function shardPage(
  facts: FleetFacts,
  plans: Plans,
  terms: StatusTerms,
  filter: ShardFilter,
): ShardPage {
  const limit = Math.min(shardsPageMax, Math.max(1, filter.limit ?? PAGE));
  const found: ReplicaStatus[] = [];
  let passed = filter.after === undefined;
  for (const service of [...facts.views.keys()].sort()) {
    if (filter.service !== undefined && filter.service !== service) continue;
    for (const status of replicas(facts, plans, terms, service)) {
      const key = replicaKey(service, status.shard, status.replica);
      if (!passed) {
        passed = key === filter.after;
        continue;
      }
      if (!matches(status, filter)) continue;
      if (found.length === limit) {
        const last = found.at(-1)!;
        return { replicas: found, next: replicaKey(last.service, last.shard, last.replica) };
      }
      found.push(status);
    }
  }
  return { replicas: found, next: undefined };
}

function* replicas(
  facts: FleetFacts,
  plans: Plans,
  terms: StatusTerms,
  service: string,
): Iterable<ReplicaStatus> {
  const { parameters } = facts.views.get(service)!.value;
  const lines = plans.of(facts, service)?.lines;
  for (const shard of shardIds(parameters)) {
    const strikes = facts.troubles.get(shardKey(service, shard))?.value.strikes ?? 0;
    for (let replica = 0; replica < parameters.replicas; replica++) {
      const key = replicaKey(service, shard, replica);
      const tenure = facts.tenures.get(key);
      const target = lines?.get(key)?.candidates[0];
      const contenders = [...(facts.contenders.get(key) ?? [])].map(([node, { value }]) => ({
        node,
        phase: value.phase,
      }));
      const state: ReplicaState = tenure
        ? contenders.length > 0 || (target !== undefined && target !== tenure.value.node)
          ? "moving"
          : "held"
        : strikes >= terms.quarantineStrikes
          ? "quarantined"
          : "unheld";
      yield {
        service,
        shard,
        replica,
        state,
        node: tenure?.value.node,
        epoch: tenure && { era: tenure.value.era, revision: tenure.revision },
        since: tenure?.value.since,
        target,
        contenders,
        strikes,
      };
    }
  }
}

function matches(status: ReplicaStatus, { node, state }: ShardFilter): boolean {
  if (state !== undefined && status.state !== state) return false;
  if (node === undefined || status.node === node || status.target === node) return true;
  return status.contenders.some((contender) => contender.node === node);
}
