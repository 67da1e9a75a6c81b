/** Who holds a shard, since when and why: what the store and the plan say, and what nodes answered when asked for their decisions. */
import { describeTrouble, explain, shardKey, type Decision, type Entry } from "@keelson/kernel";
import type { ShardExplanation } from "./contract.ts";
import type { FleetFacts } from "./facts.ts";
import type { Plans } from "./plans.ts";
import { pinStatuses, type StatusTerms } from "./status.ts";

/** Undefined when the service has no such shard. */
export function explainShard(
  facts: FleetFacts,
  plans: Plans,
  terms: StatusTerms,
  copy: { get(key: string): Entry | undefined; entries(): Iterable<Entry> },
  about: { readonly service: string; readonly shard: string },
  decisions: (replica: string) => readonly Decision[],
): ShardExplanation | undefined {
  const { service, shard } = about;
  const view = facts.views.get(service)?.value;
  if (!view) return undefined;
  const found = explain(
    {
      keys: facts.keys,
      plan: plans.of(facts, service),
      get: (key) => copy.get(key),
      entries: () => copy.entries(),
      decisions,
    },
    service,
    shard,
  );
  if (!found) return undefined;
  const trouble = facts.troubles.get(shardKey(service, shard))?.value;
  const pins = pinStatuses(facts).filter((pin) => pin.service === service && pin.shard === shard);
  return {
    service,
    shard,
    placement: view.algorithm,
    view: view.n,
    replicas: found.replicas.map((replica) => {
      const pin = pins.find((each) => each.replica === undefined || each.replica === replica.replica);
      return { ...replica, ...(pin ? { pin } : {}) };
    }),
    ...(found.primary ? { primary: found.primary } : {}),
    ...(trouble
      ? {
          trouble: {
            strikes: trouble.strikes,
            quarantined: trouble.strikes >= terms.quarantineStrikes,
            text: describeTrouble(trouble),
          },
        }
      : {}),
  };
}
