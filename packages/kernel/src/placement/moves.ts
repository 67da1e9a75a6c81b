import type { ReplicaKey } from "../identity/keys.ts";
import type { Plan } from "./plan.ts";

/** A replica whose target differs between two plans. No `from`: it is new, or nobody could hold it. No `to`: it is gone, or nobody can. */
export interface Move {
  readonly replica: ReplicaKey;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** What has to move when one plan follows another, in the order of the plans' lines. Who really holds a replica is not asked. */
export function moves(from: Plan, to: Plan): Move[] {
  const out: Move[] = [];
  for (const [replica, line] of to.lines) {
    const before = from.lines.get(replica)?.candidates[0];
    const after = line.candidates[0];
    if (before !== after) out.push({ replica, from: before, to: after });
  }
  for (const [replica, line] of from.lines) {
    const before = line.candidates[0];
    if (before !== undefined && !to.lines.has(replica)) out.push({ replica, from: before, to: undefined });
  }
  return out;
}
