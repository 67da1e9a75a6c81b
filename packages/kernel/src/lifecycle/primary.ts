import { compareEpochs } from "../identity/epoch.ts";
import { replicaKey } from "../identity/keys.ts";
import type { Primary } from "../tenure/tenure.ts";
import type { HostMachine } from "./host-machine.ts";
import type { Hold, Local } from "./local.ts";

/**
 * Which replica may write what its shard shares. The primary key is bound to the same liveness session as its replica's tenure, moves and dies with
 * it, and its own revision is the write epoch. Promotion: the lowest live replica creates the key if absent, others a step later; it is adopted
 * once per epoch, raised at the shared resources by `promote`, and only then admits writes.
 */
export function reconcilePrimary(machine: HostMachine, local: Local, hold: Hold, now: number): void {
  const facts = machine.facts.shard(local.shardKey, now);
  const known = facts.primary;
  const session = machine.session(now);
  const ours =
    known !== undefined &&
    known.value.session === hold.fence.session &&
    known.value.replica === local.id.replica &&
    known.value.era === hold.epoch.era;
  if (hold.primary && (!ours || known.revision !== hold.primary.epoch.revision)) {
    machine.decide(
      "demoted",
      local,
      hold.primary.epoch,
      ours ? "its write epoch was replaced" : "the primary key is no longer ours",
    );
    machine.emit({ kind: "demote", replica: local.key });
    hold.primary = undefined;
  }
  if (hold.phase !== "live" || !machine.era) return;
  if (!session) {
    // A renewal brings the deadline back without a word to anyone: look again by then.
    machine.wake(local, now + machine.terms.renewRetryMs);
    return;
  }
  if (ours) {
    const epoch = { era: known.value.era, revision: known.revision };
    if (!hold.primary && compareEpochs(epoch, local.lastPrimary) > 0) {
      local.lastPrimary = epoch;
      hold.primary = { epoch, phase: "promoting" };
      machine.emit({ kind: "promote", replica: local.key, epoch });
      return;
    }
    // Adopted once and not served any more: the key must go, however often that takes.
    const giveUp = !hold.primary || hold.primary.phase === "giving-up";
    if (giveUp && !local.promoting && now >= local.promoteRetryAt) {
      local.promoting = true;
      machine.emit({
        kind: "commit",
        purpose: "demote",
        replica: local.key,
        epoch: hold.epoch,
        commit: machine.intents.demote(local.shardKey, known.revision),
      });
      local.promoteRetryAt = now + machine.terms.promoteStepMs;
    } else if (giveUp) machine.wake(local, local.promoteRetryAt);
    return;
  }
  if (known || local.promoting || machine.leavingSince !== undefined) return;
  let position = 0;
  for (let r = 0; r < local.id.replica; r++) {
    if (machine.facts.replica(replicaKey(local.id.service, local.id.shard, r), now).tenure) position++;
  }
  const at = Math.max(facts.primarySince + position * machine.terms.promoteStepMs, local.promoteRetryAt);
  if (now < at) {
    machine.wake(local, at);
    return;
  }
  local.promoting = true;
  const value: Primary = {
    v: 1,
    node: machine.self.node,
    replica: local.id.replica,
    session: session.id,
    era: machine.era.era,
    address: machine.self.address,
  };
  machine.emit({
    kind: "commit",
    purpose: "promote",
    replica: local.key,
    epoch: hold.epoch,
    commit: machine.intents.promote(local.shardKey, value, local.key, hold.epoch.revision, machine.era),
  });
}
