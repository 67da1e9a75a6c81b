import type { Contender } from "../tenure/tenure.ts";
import type { ReplicaFacts } from "./facts.ts";
import type { HostMachine } from "./host-machine.ts";
import type { Local } from "./local.ts";

/**
 * Getting ready to hold what another node still holds, and tidying up when that is no longer wanted. A contender withdraws its key, and sees
 * it gone, before it lets go of its data: nobody hands over to a node that has just thrown its work away.
 */
export function contend(machine: HostMachine, local: Local, facts: ReplicaFacts, now: number): void {
  const session = machine.session(now);
  const tenure = facts.tenure;
  const key = facts.contenders.get(machine.self.node);
  // A suspended service is as good as absent here.
  const listed = machine.isListed(local) && machine.suspension(local) === undefined;
  const target = machine.leavingSince === undefined && listed && isTarget(machine, local, facts);
  const elsewhere = tenure !== undefined && tenure.value.session !== machine.liveness?.id;
  const wanted = !local.hold && target && elsewhere;

  const retryAt = Math.max(local.retryAt, local.commitRetryAt);

  if (wanted && session && now >= retryAt) {
    prepareIfNeeded(machine, local, false);
    const phase: Contender["phase"] =
      local.data === "prepared" && local.shard === "none" ? "ready" : "preparing";
    const stale = key === undefined || key.value.phase !== phase || key.value.session !== session.id;
    if (stale && !local.contending) {
      local.contending = true;
      const value: Contender = {
        v: 1,
        phase,
        progress: phase === "ready" ? 1 : local.progress,
        boot: machine.self.boot,
        session: session.id,
        address: machine.self.address,
      };
      machine.decide(
        phase === "ready" ? "ready" : "contending",
        local,
        undefined,
        machine.line(local)?.reason ?? "",
      );
      machine.emit({
        kind: "commit",
        purpose: "contend",
        replica: local.key,
        commit: machine.intents.contend(
          local.key,
          machine.self.node,
          value,
          key?.revision ?? 0,
          tenure.revision,
        ),
      });
    }
    return;
  }
  if (wanted && session) machine.wake(local, retryAt);
  else if (wanted) machine.awaitSession(local);
  // With no holder left a contender stays: it takes over when it is ready. Where an auction would find another, only while it still gets ready.
  const hopeful =
    listed && (machine.followsPlan(local) || (local.data !== "none" && machine.leavingSince === undefined));
  const withdraws = !wanted && (tenure !== undefined || !hopeful);
  if (withdraws && key && session && key.value.session === session.id && !local.contending) {
    if (now >= local.commitRetryAt) {
      local.contending = true;
      machine.emit({
        kind: "commit",
        purpose: "withdraw",
        replica: local.key,
        commit: machine.intents.withdraw(local.key, machine.self.node, key.revision),
      });
    } else machine.wake(local, local.commitRetryAt);
  }
  // A tenure of this process that is no longer held rests on a session or an era that is over: the copy of the store has yet to show its end, and then the data is worth a build.
  const isUnheld = tenure === undefined || tenure.value.boot === machine.self.boot;
  const mayTakeOver = isUnheld && machine.leavingSince === undefined && listed;
  if (!wanted && !local.hold && !mayTakeOver && !key && !local.contending) letGo(machine, local);
}

/**
 * Is it to come here? Where no plan says so, only an award that names this very process does: a node that was started anew is not given what its former self
 * still has in the store, because nobody has asked whether there is room for it.
 */
function isTarget(machine: HostMachine, local: Local, facts: ReplicaFacts): boolean {
  const line = machine.line(local);
  if (machine.followsPlan(local)) return line?.candidates[0] === machine.self.node && line.interim !== true;
  const award = facts.award?.value;
  return (
    award !== undefined &&
    award.session === machine.liveness?.id &&
    award.fromSession === facts.tenure?.value.session
  );
}

/** Starts building what is not built, within the limit on concurrent opens. */
export function prepareIfNeeded(machine: HostMachine, local: Local, granted: boolean): void {
  if (local.data !== "none") return;
  if (machine.service(local).builds) machine.opens.ask(local.key, "prepare", granted);
  else local.data = "prepared";
}

function letGo(machine: HostMachine, local: Local): void {
  machine.opens.forget(local.key);
  if (!machine.service(local).builds) return;
  if (local.data === "preparing") {
    local.data = "cancelling";
    machine.emit({ kind: "cancel", replica: local.key });
  } else if (local.data === "prepared" && local.shard === "none") {
    local.data = "none";
    machine.emit({ kind: "discard", replica: local.key });
  }
}
