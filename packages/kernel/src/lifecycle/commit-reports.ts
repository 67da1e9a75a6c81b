import { compareEpochs, type Epoch } from "../identity/epoch.ts";
import type { CommitPurpose, CommitReport } from "./host-actions.ts";
import type { HostMachine } from "./host-machine.ts";
import type { Hold, Local } from "./local.ts";

/** Further failures make no longer pauses: what was lost must be held again soon after the store is well. */
const COMMIT_FAILURES_MAX = 4;

/** What the outcome of a commit means for the replica it was about. What the commit wrote is known already; this is about when to try again. */
export function commitReported(
  machine: HostMachine,
  local: Local,
  purpose: CommitPurpose,
  epoch: Epoch | undefined,
  report: CommitReport,
  now: number,
): void {
  // A report about an earlier tenure says nothing about this one.
  const hold = local.hold && epoch && compareEpochs(local.hold.epoch, epoch) === 0 ? local.hold : undefined;
  const again = now + machine.pause(hold?.tries ?? 1);
  switch (purpose) {
    case "grant":
      local.granting = false;
      if (report === "conflict") local.sentGrant = undefined;
      retryLater(machine, local, report, now);
      if (report === "unknown" && !machine.rules.adoption) local.deaf = true;
      return;
    case "contend":
    case "withdraw":
      local.contending = false;
      retryLater(machine, local, report, now);
      return;
    case "clean":
      local.cleaning = false;
      retryLater(machine, local, report, now);
      return;
    case "forgive":
      local.cleaning = false;
      return;
    case "promote":
    case "demote":
      local.promoting = false;
      if (report !== "committed") local.promoteRetryAt = again;
      return;
    case "hand-over":
      if (hold && (hold.phase === "moving" || !machine.rules.stopBeforeCommit))
        handOverReported(machine, local, hold, report, now, again);
      return;
    case "re-stamp":
    case "release":
      if (hold?.busy && (hold.phase === "restamping" || hold.phase === "releasing")) {
        hold.busy = false;
        hold.retryAt = again;
      }
      return;
  }
}

/** A conflict is about something that is written and has not yet been heard of: to ask again soon would only keep the store busy. */
function retryLater(machine: HostMachine, local: Local, report: CommitReport, now: number): void {
  local.commitFailures = report === "committed" ? 0 : Math.min(local.commitFailures + 1, COMMIT_FAILURES_MAX);
  if (report !== "committed") local.commitRetryAt = now + machine.pause(local.commitFailures);
}

function handOverReported(
  machine: HostMachine,
  local: Local,
  hold: Hold,
  report: CommitReport,
  now: number,
  again: number,
): void {
  hold.busy = false;
  if (report === "committed") return; // The tenure is the successor's by now, and the hold is dropped.
  if (report === "conflict") {
    machine.phase(hold, "restamping", now);
    return;
  }
  const { since, tries } = hold;
  machine.phase(hold, "unsure", now);
  hold.since = since;
  hold.tries = tries;
  hold.retryAt = again;
  machine.decide(
    "unsure",
    local,
    hold.epoch,
    `the hand-over to ${hold.to?.node ?? "?"} may or may not have happened`,
  );
}
