import type { Member } from "../membership/member.ts";
import { raisedActive } from "../membership/protocol.ts";
import type { Controller, ControllerInput, Proposal } from "./controller.ts";

/** `fleet/protocol`: the version the fleet speaks, and the one it is about to. */
export interface ProtocolRecord {
  readonly v: 1;
  readonly active: number;
  /** Announced: no node that cannot speak it may join any more. It becomes active once a later look shows that all members can. */
  readonly next?: number;
}

/**
 * Raises the fleet's protocol once every member speaks a higher one, in two steps: announce it, so that joins are held to it, then make it active
 * when the members seen after the announcement all speak it. A member that does not withdraws the announcement.
 */
export const protocolController: Controller = {
  name: "protocol",
  kinds: ["member", "fleet"],
  debounceMs: 1_000,
  periodMs: 60_000,
  reconcile(input: ControllerInput): readonly Proposal[] {
    const entry = input.get(input.keys.protocol);
    if (!entry) return [];
    const record = JSON.parse(entry.value) as ProtocolRecord;
    const spoken = raisedActive(record.active, ranges(input));
    const propose = (next: ProtocolRecord, reason: string): Proposal[] => [
      {
        commit: {
          guards: [{ key: entry.key, revision: entry.revision }],
          writes: [{ kind: "put", key: entry.key, value: JSON.stringify(next) }],
        },
        reason,
      },
    ];
    if (record.next === undefined) {
      return spoken > record.active
        ? propose({ ...record, next: spoken }, `protocol ${spoken} is announced: all members speak it`)
        : [];
    }
    if (spoken >= record.next)
      return propose({ v: 1, active: record.next }, `protocol ${record.next} is active`);
    return propose(
      { v: 1, active: record.active },
      `protocol ${record.next} is withdrawn: not all members speak it`,
    );
  },
};

function* ranges(input: ControllerInput): Iterable<Member["protocol"]> {
  for (const entry of input.entries()) {
    if (input.keys.parse(entry.key)?.kind === "member") yield (JSON.parse(entry.value) as Member).protocol;
  }
}
