import type { ReplicaFacts } from "./facts.ts";
import type { HostMachine } from "./host-machine.ts";
import { prepareIfNeeded } from "./contending.ts";
import type { Hold, Local, Successor } from "./local.ts";
import { primaryPart, type PrimaryPart } from "../movement/intents.ts";
import type { Tenure } from "../tenure/tenure.ts";
import { struck } from "./trouble.ts";

/**
 * The hand-over, seen from the holder.
 *
 * Before: the successor's contender key says ready. 1. Stop admitting (`draining`): callers get the successor as hint. 2. Wait for what is in flight.
 * 3. Send one commit that replaces our tenure with the successor's (`moving`). After: the tenure is the successor's and our shard closes.
 * Cancelling is possible until 3. Once the commit was sent this epoch never admits again, whatever the reply: an unknown outcome repeats the same
 * commit, then re-stamps; a conflict re-stamps. The new revision is a new epoch, and no commit in flight can land any more.
 */
export function reconcileHold(
  machine: HostMachine,
  local: Local,
  hold: Hold,
  facts: ReplicaFacts,
  now: number,
): void {
  switch (hold.phase) {
    case "waiting":
      if (!machine.isListed(local) || machine.suspension(local) !== undefined)
        return standDown(machine, local, hold, now);
      if (machine.leavingSince !== undefined && local.shard === "none")
        move(machine, local, hold, facts, now);
      if (hold.phase === "waiting") openWhatWasGranted(machine, local, hold, now);
      return;
    case "activating":
      return;
    case "live":
      forgiveWhenOld(machine, local, hold, now);
      if (machine.suspension(local) !== undefined) standDown(machine, local, hold, now);
      else if (!machine.isListed(local)) giveUp(machine, local, hold, now);
      else move(machine, local, hold, facts, now);
      return;
    case "draining":
      if (hold.busy) return;
      if (hold.to) drainedMove(machine, local, hold, facts, now);
      else drainedRelease(machine, local, hold, now);
      return;
    case "moving":
      return;
    case "unsure":
      resolveUnsure(machine, local, hold, facts, now);
      return;
    case "restamping":
      reStamp(machine, local, hold, facts, now);
      return;
    case "releasing":
      release(machine, local, hold, facts, now);
      return;
  }
}

function openWhatWasGranted(machine: HostMachine, local: Local, hold: Hold, now: number): void {
  machine.closeShard(local);
  if (local.shard !== "none") return;
  if (now < hold.retryAt) {
    machine.wake(local, hold.retryAt);
    return;
  }
  if (local.data === "none" && now < local.retryAt) {
    machine.wake(local, local.retryAt);
    return;
  }
  prepareIfNeeded(machine, local, true);
  if (local.data === "prepared") machine.opens.ask(local.key, "activate", true);
}

/** Should the replica go elsewhere, and is somebody there to take it? */
function move(machine: HostMachine, local: Local, hold: Hold, facts: ReplicaFacts, now: number): void {
  const candidates = machine.line(local)?.candidates ?? [];
  const leaving = machine.leavingSince !== undefined;
  if (!leaving && (candidates.length === 0 || candidates[0] === machine.self.node)) return;
  const to = successor(machine, candidates, facts, leaving, now);
  if (to) {
    if (!machine.mayMove()) {
      machine.wake(local, now + 5);
      return;
    }
    machine.phase(hold, "draining", now);
    hold.to = to;
    machine.decide(
      "draining",
      local,
      hold.epoch,
      leaving ? `leaving; ${to.node} takes it` : `the plan wants it on ${to.node}`,
    );
    hold.busy = machine.rules.drainWait && machine.rules.stopBeforeCommit && local.shard === "open";
    if (hold.busy) machine.emit({ kind: "drain", replica: local.key });
    else drainedMove(machine, local, hold, facts, now);
    return;
  }
  if (!leaving) return;
  const at =
    facts.contenders.size > 0
      ? machine.leavingSince! + machine.terms.leaveReadyMs
      : machine.leavingSince! + patienceMs(machine, local, candidates);
  if (now < at) machine.wake(local, at);
  else {
    machine.decide("draining", local, hold.epoch, "leaving, and nobody is getting ready to take it");
    machine.phase(hold, "releasing", now);
    machine.touch(local.key);
  }
}

/** The service cannot work here: what is open, or was to be opened or passed on, is released. What a commit is under way for comes back to this by itself. */
export function standDownIfOpen(machine: HostMachine, local: Local, hold: Hold, now: number): void {
  if (hold.phase === "live" || hold.phase === "waiting" || hold.phase === "draining")
    standDown(machine, local, hold, now);
}

/** Nothing of it could be finished, or nothing was begun. */
function standDown(machine: HostMachine, local: Local, hold: Hold, now: number): void {
  const suspended = machine.suspension(local);
  if (suspended !== undefined) machine.decide("failed", local, hold.epoch, `given up: ${suspended}`);
  machine.phase(hold, "releasing", now);
  machine.touch(local.key);
}

/** The service no longer has the shard: finish what is in flight, then release. */
function giveUp(machine: HostMachine, local: Local, hold: Hold, now: number): void {
  machine.phase(hold, "draining", now);
  hold.to = undefined;
  machine.decide("draining", local, hold.epoch, "the service no longer has this shard");
  hold.busy = machine.rules.drainWait && local.shard === "open";
  if (hold.busy) machine.emit({ kind: "drain", replica: local.key });
  machine.touch(local.key);
}

/** Nothing is in flight any more. If the shard came back meanwhile, nothing was sent and we serve on. */
function drainedRelease(machine: HostMachine, local: Local, hold: Hold, now: number): void {
  const listed = machine.isListed(local);
  machine.phase(hold, listed ? "live" : "releasing", now);
  if (listed) machine.emit({ kind: "live", replica: local.key });
  machine.touch(local.key);
}

/** How long a leaving holder waits for somebody to contend at all. */
function patienceMs(machine: HostMachine, local: Local, candidates: readonly string[]): number {
  const self = machine.self.node;
  const others = candidates.filter((node) => node !== self);
  if (machine.followsPlan(local))
    return others.length === 0 && !candidates.includes(self) ? 0 : machine.terms.noContenderMs;
  // The replicas of a leaving node are auctioned one after the other, so the last of them waits for all.
  const bidders = machine.plan(local.id.service)?.bidders ?? [];
  return bidders.every((node) => node === self) ? 0 : machine.terms.leaveReadyMs;
}

function successor(
  machine: HostMachine,
  candidates: readonly string[],
  facts: ReplicaFacts,
  leaving: boolean,
  now: number,
): Successor | undefined {
  const contender = (node: string, phase: "ready" | "any"): Successor | undefined => {
    const known = facts.contenders.get(node);
    if (!known || node === machine.self.node || (phase === "ready" && known.value.phase !== "ready"))
      return undefined;
    const { session, boot, address } = known.value;
    return { node, session, boot, address, revision: known.revision };
  };
  const first = candidates[0] === undefined ? undefined : contender(candidates[0], "ready");
  if (first || !leaving) return first;
  // The plan's first choice is worth waiting for while it is getting ready; otherwise whoever is ready will do.
  const patient = now < machine.leavingSince! + machine.terms.leaveReadyMs;
  if (patient && candidates[0] !== undefined && facts.contenders.has(candidates[0])) return undefined;
  const order = [...candidates, ...facts.contenders.keys()];
  for (const phase of patient ? (["ready"] as const) : (["ready", "any"] as const)) {
    for (const node of order) {
      const found = contender(node, phase);
      if (found) return found;
    }
  }
  return undefined;
}

/** Nothing is in flight any more. If the successor is still there the commit goes out; otherwise nothing was sent and we serve on. */
function drainedMove(machine: HostMachine, local: Local, hold: Hold, facts: ReplicaFacts, now: number): void {
  const to = hold.to!;
  const contender = facts.contenders.get(to.node);
  const first = machine.line(local)?.candidates[0];
  const stillWanted =
    machine.leavingSince !== undefined || (first !== undefined && first !== machine.self.node);
  if (
    contender?.revision !== to.revision ||
    contender.value.session !== to.session ||
    !stillWanted ||
    !machine.era
  ) {
    hold.to = undefined;
    machine.phase(hold, local.shard === "open" ? "live" : "waiting", now);
    if (local.shard === "open") machine.emit({ kind: "live", replica: local.key });
    machine.touch(local.key);
    return;
  }
  machine.phase(hold, "moving", now);
  sendHandOver(machine, local, hold, now);
}

function sendHandOver(machine: HostMachine, local: Local, hold: Hold, now: number): void {
  const to = hold.to!;
  hold.tries++;
  hold.busy = true;
  const value: Tenure = {
    v: 1,
    node: to.node,
    boot: to.boot,
    session: to.session,
    era: machine.era!.era,
    address: to.address,
    how: "hand-over",
    reason:
      machine.leavingSince === undefined
        ? (machine.line(local)?.reason ?? "")
        : `${machine.self.node} is leaving`,
    from: machine.self.node,
    since: machine.wall(),
  };
  machine.emit({
    kind: "commit",
    purpose: "hand-over",
    replica: local.key,
    epoch: hold.epoch,
    commit: machine.intents.handOver(
      local.key,
      hold.epoch.revision,
      value,
      to,
      machine.era!,
      part(machine, local, hold, now),
    ),
  });
}

function resolveUnsure(
  machine: HostMachine,
  local: Local,
  hold: Hold,
  facts: ReplicaFacts,
  now: number,
): void {
  if (!machine.rules.reStamp) {
    machine.phase(hold, "live", now);
    machine.emit({ kind: "live", replica: local.key });
    return;
  }
  const contender = facts.contenders.get(hold.to!.node);
  const hopeful = contender?.revision === hold.to!.revision && now < hold.since + machine.terms.unsureMs;
  if (!hopeful || !machine.era) {
    machine.phase(hold, "restamping", now);
    machine.touch(local.key);
  } else if (now < hold.retryAt) machine.wake(local, hold.retryAt);
  else {
    const { since, tries } = hold;
    machine.phase(hold, "moving", now);
    hold.since = since;
    hold.tries = tries;
    sendHandOver(machine, local, hold, now);
  }
}

function reStamp(machine: HostMachine, local: Local, hold: Hold, facts: ReplicaFacts, now: number): void {
  if (hold.busy || !machine.era || !facts.tenure) return;
  if (now < hold.retryAt) {
    machine.wake(local, hold.retryAt);
    return;
  }
  hold.tries++;
  hold.busy = true;
  const value: Tenure = {
    ...facts.tenure.value,
    how: "re-stamp",
    reason: "its last commit or activation may still be under way",
  };
  machine.decide("re-stamped", local, hold.epoch, value.reason);
  machine.emit({
    kind: "commit",
    purpose: "re-stamp",
    replica: local.key,
    epoch: hold.epoch,
    commit: machine.intents.reStamp(
      local.key,
      hold.epoch.revision,
      value,
      machine.era,
      part(machine, local, hold, now),
    ),
  });
}

function release(machine: HostMachine, local: Local, hold: Hold, _facts: ReplicaFacts, now: number): void {
  machine.closeShard(local);
  if (local.shard !== "none" || hold.busy) return;
  if (now < hold.retryAt) {
    machine.wake(local, hold.retryAt);
    return;
  }
  hold.tries++;
  hold.busy = true;
  const shard = machine.facts.shard(local.shardKey, now);
  const strike =
    hold.strike === undefined
      ? undefined
      : {
          key: machine.keys.trouble(local.shardKey),
          revision: shard.trouble?.revision ?? 0,
          value: struck(shard.trouble?.value, {
            node: machine.self.node,
            what: "open failed",
            message: hold.strike.slice(0, 500),
          }),
        };
  machine.emit({
    kind: "commit",
    purpose: "release",
    replica: local.key,
    epoch: hold.epoch,
    commit: machine.intents.release(local.key, hold.epoch.revision, part(machine, local, hold, now), strike),
  });
}

function forgiveWhenOld(machine: HostMachine, local: Local, hold: Hold, now: number): void {
  const trouble = machine.facts.shard(local.shardKey, now).trouble;
  if (!trouble || local.cleaning) return;
  const at = hold.adoptedAt + machine.terms.youngMs;
  if (now < at) machine.wake(local, at);
  else {
    local.cleaning = true;
    machine.emit({
      kind: "commit",
      purpose: "forgive",
      replica: local.key,
      commit: machine.intents.forgive(local.shardKey, trouble.revision),
    });
  }
}

function part(machine: HostMachine, local: Local, hold: Hold, now: number): PrimaryPart | undefined {
  if (!machine.service(local).primary) return undefined;
  const shard = machine.facts.shard(local.shardKey, now);
  return primaryPart(
    machine.keys.primary(local.shardKey),
    shard.primary,
    local.id.replica,
    hold.fence.session,
  );
}
