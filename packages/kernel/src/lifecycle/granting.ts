import { compareEpochs } from "../identity/epoch.ts";
import { serviceOf, type ReplicaKey } from "../identity/keys.ts";
import type { Guard } from "../store/contract.ts";
import type { Tenure } from "../tenure/tenure.ts";
import type { Terms } from "../tenure/terms.ts";
import { primaryPart } from "../movement/intents.ts";
import type { ReplicaFacts } from "./facts.ts";
import type { HostMachine } from "./host-machine.ts";
import type { Local } from "./local.ts";
import { describeTrouble, judgeTrouble, strikeOfLoss } from "./trouble.ts";

/** For how many steps longer a lower rank lets those before it, or its own standing still, put off its turn. */
const PATIENCE_STEPS = 2;
const FIRST_PATIENCE_STEPS = 10;

/** How long a lower rank waits, at the least, for each one before it, with a replica that it never saw held. */
export function firstStepMs(terms: Pick<Terms, "takeoverStepMs">): number {
  return 4 * terms.takeoverStepMs;
}

/** For how long new plans, and grants to those before it, may put off a lower rank's wait with such a replica. */
export function firstPatienceMs(terms: Pick<Terms, "takeoverStepMs">): number {
  return FIRST_PATIENCE_STEPS * firstStepMs(terms);
}

/**
 * Whether a lower rank's time with a replica that it never saw held has not come yet, though its first wait is over: one before it was granted something a moment ago, and is on its way to
 * this one. A fleet that starts on busy machines takes longer than that wait, and would otherwise have every candidate look at everything.
 */
export function waitsOn(machine: HostMachine, key: ReplicaKey, now: number): boolean {
  if (now >= machine.facts.replica(key, now).since + firstPatienceMs(machine.terms)) return false;
  const recently = now - firstStepMs(machine.terms);
  for (const node of machine.lineOf(key, serviceOf(key))?.candidates ?? []) {
    if (node === machine.self.node) return false;
    if (machine.facts.grantedAt(node) > recently) return true;
  }
  return false;
}

/**
 * A replica that this node does not hold. If nobody does, its candidates create the tenure in the plan's order, a step apart, so that a
 * dead candidate costs one step and not a TTL. Under auctions and claims only those are candidates that have it ready: a first tenure comes from elsewhere.
 * If a tenure of ours is left over that we no longer serve, it is taken away.
 */
export function grantOrWait(machine: HostMachine, local: Local, facts: ReplicaFacts, now: number): void {
  const tenure = facts.tenure;
  const session = machine.session(now);
  if (tenure) {
    if (session && tenure.value.session === session.id) removeLeftOver(machine, local, tenure, now);
    else if (!machine.rules.ownerRevokes && !machine.isMember(tenure.value.node)) {
      machine.emit({ kind: "revoke", session: tenure.value.session });
    }
    return;
  }
  if (machine.leavingSince !== undefined || !machine.era || !machine.isListed(local)) return;
  if (machine.suspension(local) !== undefined) return;
  const position = rank(machine, local, facts);
  if (position < 0 || (position > 0 && !machine.rules.lowerRanks)) return;
  if (!session) {
    machine.awaitSession(local);
    return;
  }
  const shard = machine.facts.shard(local.shardKey, now);
  const verdict = judgeTrouble(shard.trouble?.value, shard.troubleSince, now, machine.terms);
  if (verdict.kind === "quarantined" && local.quarantinedAt !== shard.troubleSince) {
    local.quarantinedAt = shard.troubleSince;
    machine.decide("quarantined", local, undefined, describeTrouble(shard.trouble!.value));
  }
  const at = Math.max(
    turn(machine, local, facts, position),
    local.retryAt,
    local.commitRetryAt,
    verdict.kind === "free" ? -Infinity : verdict.until,
  );
  // What comes of the grant under way is reported; to look before that would be in vain.
  if (local.granting) return;
  if (now < at) {
    machine.wake(local, at);
    return;
  }
  if (isolated(machine, local, now)) {
    machine.wake(local, now + machine.terms.youngMs / 4);
    return;
  }
  const strike = strikeOfLoss(machine.keys, facts, shard.trouble, local.shardKey, machine.terms);
  const reason = strike
    ? `takes over from ${facts.lostBy}, lost soon after its grant`
    : position > 0
      ? `candidate ${position + 1} in line: those before it did not take it`
      : machine.followsPlan(local)
        ? (machine.line(local)?.reason ?? "ready contender")
        : "has it ready";
  const value: Tenure = {
    v: 1,
    node: machine.self.node,
    boot: machine.self.boot,
    session: session.id,
    era: machine.era.era,
    address: machine.self.address,
    how: "grant",
    reason,
    since: machine.wall(),
  };
  local.granting = true;
  local.sentGrant = { session: session.id, round: facts.round };
  machine.emit({
    kind: "commit",
    purpose: "grant",
    replica: local.key,
    commit: machine.intents.grant(local.key, value, machine.era, strike, sinceReady(machine, local, facts)),
  });
}

/** This node's place in the order in which candidates create: ready contenders first, then the plan's order. −1: not a candidate. */
function rank(machine: HostMachine, local: Local, facts: ReplicaFacts): number {
  if (!machine.followsPlan(local)) return rankOfReady(machine, local, facts);
  const candidates = machine.line(local)?.candidates ?? [];
  const mine = candidates.indexOf(machine.self.node);
  if (facts.contenders.size === 0) return mine;
  const planned = (node: string) => {
    const at = candidates.indexOf(node);
    return at < 0 ? candidates.length : at;
  };
  const ready = [...facts.contenders].filter(([, c]) => c.value.phase === "ready").map(([node]) => node);
  ready.sort((a, b) => planned(a) - planned(b) || (a < b ? -1 : 1));
  const amongReady = ready.indexOf(machine.self.node);
  if (amongReady >= 0) return amongReady;
  if (mine < 0) return -1;
  return ready.length + candidates.slice(0, mine).filter((node) => !ready.includes(node)).length;
}

/** Where no plan ranks: ready contenders by their ids, then whoever still has the data of a tenure it lost. */
function rankOfReady(machine: HostMachine, local: Local, facts: ReplicaFacts): number {
  const ready = [...facts.contenders].filter(([, c]) => c.value.phase === "ready").map(([node]) => node);
  const amongReady = ready.sort().indexOf(machine.self.node);
  if (amongReady >= 0) return amongReady;
  return machine.service(local).builds && local.data === "prepared" ? ready.length : -1;
}

/** What we have ready may be gone before a late grant lands; whoever was granted it meanwhile has rewritten the round. */
function sinceReady(machine: HostMachine, local: Local, facts: ReplicaFacts): Guard[] {
  if (machine.followsPlan(local)) return [];
  return [{ key: machine.keys.auction(local.id.service, "round", local.key), revision: facts.round }];
}

/**
 * When this node's turn comes. A new view restarts the wait; so does a grant to one of those before it, because a candidate that is taking one replica after the other will
 * come to this one; and so does having stood still, because a wait says something only about a node that was listening. But not for ever.
 */
function turn(machine: HostMachine, local: Local, facts: ReplicaFacts, position: number): number {
  if (position === 0) return facts.since;
  // What was lost must be held again soon. What nobody was seen to hold waits for a whole fleet that starts, with its thousands of grants, on machines that may be busy.
  const neverHeld = facts.lostBy === "";
  const step = neverHeld ? firstStepMs(machine.terms) : machine.terms.takeoverStepMs;
  let from = Math.max(facts.since, machine.planSince(local.id.service), machine.stoodStillAt);
  for (const node of machine.line(local)?.candidates ?? []) {
    if (node === machine.self.node) break;
    from = Math.max(from, machine.facts.grantedAt(node));
  }
  const patience = neverHeld ? firstPatienceMs(machine.terms) : PATIENCE_STEPS * step;
  return Math.min(from, facts.since + patience) + position * step;
}

/** A shard with many strikes is opened only while no other of its kind is young here, so that the guilty one is found out. */
export function isolated(machine: HostMachine, shard: Pick<Local, "key" | "shardKey">, now: number): boolean {
  const strikes = (shardKey: string) => machine.facts.shard(shardKey, now).trouble?.value.strikes ?? 0;
  if (strikes(shard.shardKey) < machine.terms.isolateStrikes) return false;
  for (const other of machine.locals()) {
    const busy = other.granting || (other.hold && now - other.hold.adoptedAt < machine.terms.youngMs);
    if (other.key !== shard.key && busy && strikes(other.shardKey) >= machine.terms.isolateStrikes)
      return true;
  }
  return false;
}

/** The tenure bears our session, but we adopted that epoch once and gave it up: its removal was lost on the way. */
function removeLeftOver(
  machine: HostMachine,
  local: Local,
  tenure: NonNullable<ReplicaFacts["tenure"]>,
  now: number,
): void {
  const epoch = { era: tenure.value.era, revision: tenure.revision };
  if (compareEpochs(epoch, local.lastAdopted) > 0 || epoch.era !== machine.era?.era) return; // Not adopted yet: its era is not open to us.
  if (local.cleaning) return;
  if (now < local.commitRetryAt) {
    machine.wake(local, local.commitRetryAt);
    return;
  }
  const shard = machine.facts.shard(local.shardKey, now);
  const part = machine.service(local).primary
    ? primaryPart(machine.keys.primary(local.shardKey), shard.primary, local.id.replica, tenure.value.session)
    : undefined;
  local.cleaning = true;
  machine.emit({
    kind: "commit",
    purpose: "clean",
    replica: local.key,
    commit: machine.intents.release(local.key, tenure.revision, part, undefined),
  });
}

/** Why requests for this replica cannot be served by anyone, if so. */
export function quarantineReason(machine: HostMachine, local: Local, now: number): string | undefined {
  const shard = machine.facts.shard(local.shardKey, now);
  const verdict = judgeTrouble(shard.trouble?.value, shard.troubleSince, now, machine.terms);
  return verdict.kind === "quarantined" ? describeTrouble(shard.trouble!.value) : undefined;
}
