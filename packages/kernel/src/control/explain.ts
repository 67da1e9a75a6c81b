import { formatEpoch, type Epoch } from "../identity/epoch.ts";
import { replicaKey, shardKey, type Keys } from "../identity/keys.ts";
import { describeTrouble, type Trouble } from "../lifecycle/trouble.ts";
import type { Plan } from "../placement/plan.ts";
import type { Entry } from "../store/contract.ts";
import type { Contender, Primary, Tenure } from "../tenure/tenure.ts";
import type { Decision } from "./decisions.ts";
import { auctionLines, explainAuction, type AuctionExplanation } from "./explain-auction.ts";

/** The answer to "who holds it, since when, and why": everything the store and the plan say of one shard, and what a node decided about it. */
export interface Explanation {
  readonly service: string;
  readonly shard: string;
  readonly replicas: readonly ReplicaExplanation[];
  readonly primary?: { readonly node: string; readonly replica: number; readonly epoch: Epoch };
  readonly trouble?: Trouble;
}

export interface ReplicaExplanation {
  readonly replica: number;
  readonly holder?: {
    readonly node: string;
    readonly address: string;
    readonly epoch: Epoch;
    /** Wall clock of whoever wrote the tenure. */
    readonly since: number;
    readonly how: Tenure["how"];
    readonly reason: string;
    readonly from?: string;
  };
  readonly contenders: readonly {
    readonly node: string;
    readonly phase: Contender["phase"];
    readonly progress: number;
  }[];
  /** In the plan's order; the first should hold it. */
  readonly candidates: readonly string[];
  readonly planReason: string;
  /** Where it is auctioned: what the round that is open has heard, and how the last one ended. */
  readonly auction?: AuctionExplanation;
  readonly decisions: readonly Decision[];
}

export interface ExplainSources {
  readonly keys: Keys;
  get(key: string): Entry | undefined;
  entries(): Iterable<Entry>;
  readonly plan: Plan | undefined;
  decisions(replica: string): readonly Decision[];
}

/** Undefined when the service has no such shard. */
export function explain(sources: ExplainSources, service: string, shard: string): Explanation | undefined {
  const { keys, plan } = sources;
  const name = shardKey(service, shard);
  const count = plan?.parameters.replicas ?? 1;
  const replicas: ReplicaExplanation[] = [];
  for (let replica = 0; replica < count; replica++) {
    const key = replicaKey(service, shard, replica);
    const line = plan?.lines.get(key);
    const entry = sources.get(keys.tenure(key));
    if (!line && !entry) continue;
    replicas.push({
      replica,
      ...holderOf(entry),
      contenders: contendersOf(sources, `${keys.prefix}contender/${key}/`),
      candidates: line?.candidates ?? [],
      planReason: line?.reason ?? "not in the plan",
      ...explainAuction(sources, service, key, entry),
      decisions: sources.decisions(key),
    });
  }
  if (replicas.length === 0) return undefined;
  const primary = sources.get(keys.primary(name));
  const trouble = sources.get(keys.trouble(name));
  return {
    service,
    shard,
    replicas,
    ...(primary ? { primary: primaryOf(primary) } : {}),
    ...(trouble ? { trouble: JSON.parse(trouble.value) as Trouble } : {}),
  };
}

/** For people: one paragraph per replica. `wall` turns a wall clock into text. */
export function renderExplanation(explanation: Explanation, wall: (ms: number) => string): string {
  const lines = [`${explanation.service}/${explanation.shard}`];
  for (const each of explanation.replicas) {
    const { replica, holder, contenders, candidates, planReason, auction, decisions } = each;
    lines.push(
      holder
        ? `  replica ${replica}: held by ${holder.node} (${holder.address}) since ${wall(holder.since)}, epoch ${formatEpoch(holder.epoch)}`
        : `  replica ${replica}: held by nobody`,
    );
    if (holder)
      lines.push(
        `    why: ${holder.how}${holder.from === undefined ? "" : ` from ${holder.from}`}: ${holder.reason}`,
      );
    const [first, ...rest] = candidates;
    lines.push(
      first === undefined && auction
        ? `    plan: ${planReason}`
        : first === undefined
          ? `    plan: nobody can hold it: ${planReason}`
          : `    plan: ${first}, then ${rest.join(", ") || "nobody"}: ${planReason}`,
    );
    if (auction) lines.push(...auctionLines(auction).map((text) => `    ${text}`));
    for (const { node, phase, progress } of contenders)
      lines.push(`    contender: ${node}, ${phase} (${Math.round(progress * 100)} %)`);
    for (const { at, node, kind, reason } of decisions)
      lines.push(`    ${wall(at)} ${node} ${kind}: ${reason}`);
  }
  const { primary, trouble } = explanation;
  if (primary)
    lines.push(
      `  primary: replica ${primary.replica} on ${primary.node}, write epoch ${formatEpoch(primary.epoch)}`,
    );
  if (trouble) lines.push(`  trouble: ${describeTrouble(trouble)}`);
  return lines.join("\n");
}

function holderOf(entry: Entry | undefined): Pick<ReplicaExplanation, "holder"> {
  if (!entry) return {};
  const { node, address, era, since, how, reason, from } = JSON.parse(entry.value) as Tenure;
  return {
    holder: {
      node,
      address,
      epoch: { era, revision: entry.revision },
      since,
      how,
      reason,
      ...(from === undefined ? {} : { from }),
    },
  };
}

function contendersOf(sources: ExplainSources, prefix: string): ReplicaExplanation["contenders"] {
  const found: { node: string; phase: Contender["phase"]; progress: number }[] = [];
  for (const { key, value } of sources.entries()) {
    if (!key.startsWith(prefix)) continue;
    const { phase, progress } = JSON.parse(value) as Contender;
    found.push({ node: key.slice(prefix.length), phase, progress });
  }
  return found;
}

function primaryOf(entry: Entry): NonNullable<Explanation["primary"]> {
  const { node, replica, era } = JSON.parse(entry.value) as Primary;
  return { node, replica, epoch: { era, revision: entry.revision } };
}
