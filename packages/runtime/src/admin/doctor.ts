/**
 * Looks for what is wrong with a fleet, and says what to do about it. Pure: it judges what was gathered. Something is stuck when it looked the same
 * twice, a little while apart.
 */
import type { FleetStatus, Finding, NodeStatus, ReplicaStatus } from "./contract.ts";

export interface Gathered {
  readonly status: FleetStatus;
  readonly nodes: readonly NodeStatus[];
  /** Replicas that were not held, or on the move, at both looks. */
  readonly stuck: readonly ReplicaStatus[];
  readonly quarantined: readonly ReplicaStatus[];
  /** How long the store took to answer; a text says why it did not. */
  readonly storeMs: number | string;
  /** The store's clock less this machine's. */
  readonly clockMs: number | undefined;
  /** Wall clock of when the nodes were asked. */
  readonly askedAt: number;
}

/** Beyond these, people who compare logs are led astray. */
const CLOCK_OFF_MS = 2_000;
const STORE_SLOW_MS = 500;
const NAMED_MAX = 5;

export function diagnose(gathered: Gathered): Finding[] {
  return [
    ...store(gathered),
    ...clock(gathered),
    ...era(gathered),
    ...versions(gathered),
    ...nodes(gathered),
    ...shards(gathered),
    ...wishes(gathered),
  ];
}

function* store({ status, storeMs }: Gathered): Iterable<Finding> {
  if (typeof storeMs === "string")
    yield {
      level: "error",
      check: "store",
      says: `the store does not answer: ${storeMs}`,
      advice:
        "what is held is served until its sessions end; see that the store runs and can be reached from here",
    };
  else if (storeMs > STORE_SLOW_MS)
    yield {
      level: "warning",
      check: "store",
      says: `the store took ${Math.round(storeMs)} ms to answer`,
      advice: "look at its disk and its load: a store slower than a fifth of the TTL costs sessions",
    };
  else
    yield {
      level: "ok",
      check: "store",
      says: `the store answered in ${Math.max(1, Math.round(storeMs))} ms; ${status.store.keys} keys, revision ${status.store.revision}`,
    };
  if (!status.store.live)
    yield {
      level: "warning",
      check: "store",
      says: "the copy of the store is not being kept up to date: what follows may be old",
      advice: "ask again in a moment",
    };
}

function* clock({ clockMs, nodes: all, askedAt }: Gathered): Iterable<Finding> {
  const off: string[] = [];
  if (clockMs !== undefined && Math.abs(clockMs) > CLOCK_OFF_MS)
    off.push(`the store's by ${seconds(clockMs)}`);
  for (const { node, report } of all)
    if (typeof report === "object" && Math.abs(report.at - askedAt) > CLOCK_OFF_MS)
      off.push(`${node}'s by ${seconds(report.at - askedAt)}`);
  yield off.length === 0
    ? { level: "ok", check: "clock", says: "clocks agree to within 2 s" }
    : {
        level: "warning",
        check: "clock",
        says: `clocks differ from this machine's: ${some(off)}`,
        advice:
          "nothing in the fleet depends on the time of day, but times in logs mislead: run NTP everywhere",
      };
}

function* era({ status }: Gathered): Iterable<Finding> {
  if (!status.era)
    yield {
      level: "error",
      check: "era",
      says: `fleet ${status.fleet} has no era: no node has ever joined it in this store`,
      advice: "start a node, or check the names of the fleet and of the store",
    };
  else if (status.era.phase === "closed")
    yield {
      level: "warning",
      check: "era",
      says: `era ${status.era.era} is closed: nothing is granted until every session of before has ended`,
      advice: "wait one TTL; if it lasts, see whether any node runs",
    };
  else yield { level: "ok", check: "era", says: `era ${status.era.era} is open` };
  if (status.manager) yield { level: "ok", check: "manager", says: `${status.manager.node} is the manager` };
  else if (status.members > 0)
    yield {
      level: "warning",
      check: "manager",
      says: "there is no manager: nothing is planned that needs one",
      advice: "one is elected within a second or two; if not, the nodes cannot write to the store",
    };
}

function* versions({ nodes: all, status }: Gathered): Iterable<Finding> {
  const members = all.filter(({ member }) => member);
  const byVersion = new Map<string, string[]>();
  for (const { version, node } of members) byVersion.set(version, [...(byVersion.get(version) ?? []), node]);
  if (byVersion.size > 1)
    yield {
      level: "warning",
      check: "versions",
      says: `members run ${byVersion.size} versions: ${[...byVersion].map(([version, names]) => `${version} (${some(names)})`).join(", ")}`,
      advice: "finish the upgrade; the protocol rises when all members speak the higher one",
    };
  else if (members.length > 0)
    yield {
      level: "ok",
      check: "versions",
      says: `all members run ${members[0]!.version}, protocol ${status.protocol ?? "not set yet"}`,
    };
}

function* nodes({ nodes: all, status }: Gathered): Iterable<Finding> {
  if (status.members === 0) {
    yield { level: "error", check: "nodes", says: "the fleet has no members", advice: "start a node" };
    return;
  }
  const silent = all.flatMap(({ member, node, address, report }) =>
    member && typeof report === "string" ? [`${node} at ${address} (${report})`] : [],
  );
  if (silent.length > 0)
    yield {
      level: "error",
      check: "nodes",
      says: `cannot be reached from here: ${some(silent)}`,
      advice: "see that the address is right (--address) and that nothing blocks it; requests to it fail",
    };
  const gone = all.filter(({ member }) => !member);
  if (gone.length > 0)
    yield {
      level: "warning",
      check: "nodes",
      says: `hold shards and are no members any more: ${some(gone.map(({ node, held }) => `${node} (${held})`))}`,
      advice: "they are leaving, or were lost and their sessions end within a TTL",
    };
  const zero = all.filter(({ member, capacity, drained }) => member && capacity === 0 && !drained);
  if (zero.length > 0)
    yield {
      level: "warning",
      check: "nodes",
      says: `have no capacity: ${some(zero.map(({ node }) => node))}`,
      advice: "give them one with --capacity, if they shall hold anything",
    };
  if (silent.length === 0 && gone.length === 0)
    yield {
      level: "ok",
      check: "nodes",
      says: `${status.members} ${status.members === 1 ? "member answers" : "members answer"}`,
    };
}

function* shards({ stuck, quarantined, status }: Gathered): Iterable<Finding> {
  const unheld = stuck.filter(({ state }) => state === "unheld");
  const moving = stuck.filter(({ state }) => state === "moving");
  if (quarantined.length > 0)
    yield {
      level: "error",
      check: "shards",
      says: `quarantined, because they keep failing: ${some(quarantined.map(name))}`,
      advice: `keelson explain ${shardName(quarantined[0]!)} says why; mend that, then keelson retry ${shardName(quarantined[0]!)}`,
    };
  if (unheld.length > 0)
    yield {
      level: "error",
      check: "shards",
      says: `held by nobody: ${some(unheld.map(name))}`,
      advice: `keelson explain ${shardName(unheld[0]!)} says who should hold it; a node that was lost is succeeded within TTL + 1 s`,
    };
  if (moving.length > 0)
    yield {
      level: "warning",
      check: "shards",
      says: `still on the move: ${some(moving.map(name))}`,
      advice: `keelson explain ${shardName(moving[0]!)} says who gets ready for it and how far that is`,
    };
  if (stuck.length > 0 || quarantined.length > 0) return;
  const held = status.services.reduce((sum, service) => sum + service.held, 0);
  yield { level: "ok", check: "shards", says: `${held} replicas are held, none is stuck` };
}

function* wishes({ status }: Gathered): Iterable<Finding> {
  for (const { node, held, by } of status.drains)
    yield {
      level: held === 0 ? "ok" : "warning",
      check: "wishes",
      says:
        held === 0
          ? `${node} is drained, as ${by} wished`
          : `${node} is to be drained and still holds ${held}`,
      advice:
        held === 0
          ? `stop it, or let it take its share again with keelson undrain ${node}`
          : "if that number does not fall, no other node can take them: keelson plan",
    };
  for (const pin of status.pins)
    if (!pin.kept)
      yield {
        level: "warning",
        check: "wishes",
        says: `${pin.service}/${pin.shard} is pinned to ${pin.node}, which does not have it`,
        advice: `keelson explain ${pin.service}/${pin.shard} says why; keelson unpin ${pin.service}/${pin.shard} takes it back`,
      };
}

function name({ service, shard, replica }: ReplicaStatus): string {
  return `${service}/${encodeURIComponent(shard)}/${replica}`;
}

function shardName({ service, shard }: ReplicaStatus): string {
  return `${service}/${encodeURIComponent(shard)}`;
}

function some(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return more > 0 ? `${names.slice(0, NAMED_MAX).join(", ")} and ${more} more` : names.join(", ");
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
