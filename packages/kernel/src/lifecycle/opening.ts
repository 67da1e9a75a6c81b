import type { HostMachine } from "./host-machine.ts";
import type { Local } from "./local.ts";

/** Starts what the queue of opens lets start: building a replica, or activating one that is built and granted. */
export function startOpens(machine: HostMachine, now: number): void {
  for (const { key, what } of machine.opens.start()) {
    const local = machine.local(key)!;
    const { hold } = local;
    if (what === "prepare") {
      local.data = "preparing";
      local.progress = 0;
      machine.emit({
        kind: "prepare",
        replica: key,
        delayMs: machine.random() * machine.terms.openJitterMs,
      });
    } else if (hold?.phase === "waiting" && local.data === "prepared" && local.shard === "none") {
      machine.phase(hold, "activating", now);
      machine.emit({ kind: "activate", replica: key, epoch: hold.epoch, fence: hold.fence });
    } else {
      machine.opens.done(key);
      machine.touch(key);
    }
  }
}

/** A replica could not be built or activated here: it is tried again after a pause, and given up, with a strike, after too many tries. */
export function openFailed(machine: HostMachine, local: Local, message: string, now: number): void {
  local.failures++;
  local.retryAt = now + machine.pause(local.failures + 2);
  machine.decide("failed", local, local.hold?.epoch, message);
  if (!local.hold || local.failures < machine.terms.opensTriesMax) return;
  local.hold.strike = message;
  machine.phase(local.hold, "releasing", now);
  // Long enough for others to have a go, growing with every time it failed here.
  const waitMs = Math.min(600_000, 1_000 * 2 ** Math.min(local.failures, 20));
  local.retryAt = now + waitMs * (0.5 + 0.5 * machine.random());
}
