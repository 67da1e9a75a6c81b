/** What an operator should look at, judged from what the feed knows anyway. Pure, and asks nobody: `doctor` looks closer. */
import type { FeedAlert, FeedNode, FeedService, FeedStatus } from "./frames.ts";

export interface AlertFacts {
  readonly status: FeedStatus;
  readonly nodes: Iterable<FeedNode>;
  readonly services: Iterable<FeedService>;
  /** Replicas of a node, by its number. */
  readonly heldBy: (node: number) => number;
  /** Whether any node has ever been a member. */
  readonly members: number;
}

type Found = Omit<FeedAlert, "since">;

const NAMED_MAX = 5;

export function findAlerts({ status, nodes, services, heldBy, members }: AlertFacts): Found[] {
  const found: Found[] = [];
  const say = (level: Found["level"], id: string, text: string, advice: string): void =>
    void found.push({ level, id, text, advice });
  if (!status.storeLive)
    say(
      "error",
      "store",
      "The store is not being followed: everything here is what was last known.",
      "See that the store runs and can be reached from the gateway. What is held is served until its sessions end.",
    );
  if (status.era?.phase === "closed")
    say(
      "warning",
      "era",
      `Era ${status.era.era} is closed: nothing is granted until every session of before has ended.`,
      "Wait one TTL; if it lasts, see whether any node runs.",
    );
  if (members === 0)
    say("error", "members", "The fleet has no members.", "Start a node: keelson node --store …");
  else if (!status.manager)
    say(
      "warning",
      "manager",
      "There is no manager: nothing is planned that needs one.",
      "One is elected within a second or two; if not, the nodes cannot write to the store.",
    );
  const lost: string[] = [];
  const versions = new Set<string>();
  for (const { i, node, member, version } of nodes) {
    if (member) versions.add(version);
    else if (heldBy(i) > 0) lost.push(node);
  }
  if (lost.length > 0)
    say(
      "warning",
      "lost",
      `${some(lost)} ${lost.length === 1 ? "is no member and still holds" : "are no members and still hold"} shards.`,
      "It is leaving, or was lost: its shards are taken over when its sessions end.",
    );
  if (versions.size > 1)
    say(
      "warning",
      "versions",
      `Nodes run ${versions.size} versions: ${some([...versions].sort())}.`,
      "Finish the rolling upgrade.",
    );
  for (const { service, states } of services) {
    if (states.quarantined > 0)
      say(
        "error",
        `quarantined ${service}`,
        `${replicas(states.quarantined)} of ${service} ${states.quarantined === 1 ? "is" : "are"} quarantined: ${states.quarantined === 1 ? "it fails" : "they fail"} wherever ${states.quarantined === 1 ? "it is" : "they are"} opened.`,
        "Open one to see why, mend the cause, and retry it.",
      );
    if (states.unheld > 0)
      say(
        "error",
        `unheld ${service}`,
        `${replicas(states.unheld)} of ${service} ${states.unheld === 1 ? "has" : "have"} no holder.`,
        "If it lasts, open one to see who should hold it, and why nobody does.",
      );
  }
  return found;
}

function replicas(count: number): string {
  return count === 1 ? "1 replica" : `${count.toLocaleString("en")} replicas`;
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, NAMED_MAX).join(", ");
  return names.length > NAMED_MAX ? `${shown} and ${names.length - NAMED_MAX} more` : shown;
}
