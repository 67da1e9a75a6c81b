import { compareEpochs, formatEpoch } from "../identity/epoch.ts";
import type { Tenure } from "../tenure/tenure.ts";
import type { Known } from "./facts.ts";
import type { HostMachine } from "./host-machine.ts";
import type { Hold, Local } from "./local.ts";

/**
 * Which tenure is ours. A node adopts whatever tenure bears its current liveness session, its boot and the open era, however it came to be there:
 * its own grant, a late one, a hand-over, a grant on its behalf; at most once per epoch and process. A hold ends when the store says otherwise, or
 * when the session or the era it rests on is over.
 */
export function adoptOrLose(
  machine: HostMachine,
  local: Local,
  tenure: Known<Tenure> | undefined,
  now: number,
): void {
  if (tenure && isOurs(machine, tenure.value) && adoptable(local, tenure)) adopt(machine, local, tenure, now);
  const hold = local.hold;
  if (!hold || stillHeld(machine, hold, tenure)) return;
  if (hold.phase === "moving" || hold.phase === "unsure")
    machine.decide("handed-over", local, hold.epoch, `to ${tenure?.value.node ?? "nobody"}`);
  else if (hold.phase === "releasing")
    machine.decide("released", local, hold.epoch, hold.strike ?? "no longer wanted here");
  else machine.decide("lost", local, hold.epoch, whyLost(machine, tenure));
  machine.drop(local);
}

function isOurs(machine: HostMachine, value: Tenure): boolean {
  return (
    value.session === machine.liveness?.id &&
    value.boot === machine.self.boot &&
    machine.era !== undefined &&
    (value.era === machine.era.era || !machine.rules.era)
  );
}

function adoptable(local: Local, tenure: Known<Tenure>): boolean {
  if (local.deaf && tenure.value.how === "grant") return false;
  return compareEpochs({ era: tenure.value.era, revision: tenure.revision }, local.lastAdopted) > 0;
}

function adopt(machine: HostMachine, local: Local, tenure: Known<Tenure>, now: number): void {
  const former = local.hold;
  const epoch = { era: tenure.value.era, revision: tenure.revision };
  local.lastAdopted = epoch;
  machine.setHold(local, {
    epoch,
    fence: machine.liveness!.fence,
    adoptedAt: now,
    phase: "waiting",
    since: now,
    to: undefined,
    tries: 0,
    busy: false,
    retryAt: former?.phase === "restamping" ? former.retryAt : -Infinity,
    strike: undefined,
    primary: undefined,
  });
  machine.decide("adopted", local, epoch, `${tenure.value.how}: ${tenure.value.reason}`);
}

function stillHeld(machine: HostMachine, hold: Hold, tenure: Known<Tenure> | undefined): boolean {
  const same = tenure?.revision === hold.epoch.revision;
  if (!machine.rules.sessionDeadline) return same;
  return (
    same &&
    tenure.value.session === hold.fence.session &&
    machine.liveness?.id === hold.fence.session &&
    machine.era !== undefined &&
    (machine.era.era === hold.epoch.era || !machine.rules.era)
  );
}

function whyLost(machine: HostMachine, tenure: Known<Tenure> | undefined): string {
  if (machine.liveness === undefined) return "the liveness session is gone";
  if (machine.era === undefined) return "the era is closed";
  if (tenure)
    return `${tenure.value.node} holds it at ${formatEpoch({ era: tenure.value.era, revision: tenure.revision })}`;
  return "the tenure is gone from the store";
}
