import {
  parseReplicaKey,
  type Contender,
  type Election,
  type HostMachine,
  type ImageChange,
  type Keys,
  type Known,
  type ManagerRecord,
  type Member,
  type Primary,
  type Tenure,
  type Trouble,
  type View,
} from "@keelson/kernel";
import type { Auctions } from "../auction/auctions.ts";
import type { Manager } from "../manager/manager.ts";
import type { Eras } from "./eras.ts";
import type { Views } from "./views.ts";

/** Whom a change in the copy of the store may concern. */
export interface Fed {
  readonly keys: Keys;
  readonly host: HostMachine;
  readonly views: Views;
  readonly eras: Eras;
  readonly election: Election;
  readonly manager: Manager;
  readonly auctions: Auctions;
}

/** Tells the machines of a node what changed in its copy of the store, key by key. It only tells; nothing is decided here. */
export function feed(fed: Fed, changes: readonly ImageChange[], now: number): void {
  for (const change of changes) {
    const parsed = fed.keys.parse(change.key);
    if (!parsed) continue;
    fed.manager.noticed(parsed.kind);
    feedOne(fed, parsed.kind, parsed.rest, change, now);
  }
}

function feedOne(fed: Fed, kind: string, rest: string, change: ImageChange, now: number): void {
  const { host, views, eras, election, auctions } = fed;
  const { entry } = change;
  switch (kind) {
    case "fleet":
      if (rest === "era") eras.observe(false);
      if (rest === "manager") election.observe(known<ManagerRecord>(change));
      return;
    case "member":
      host.setMember(rest, entry !== undefined);
      views.setMember(rest, known<Member>(change)?.value, entry?.revision ?? 0);
      return;
    case "view":
      views.setView(rest, known<View>(change)?.value, entry?.revision ?? 0);
      return;
    case "tenure":
      if ((entry === undefined) !== (change.before === undefined))
        views.countHeld(parseReplicaKey(rest).service, entry ? 1 : -1);
      host.setTenure(rest, known<Tenure>(change), change.expired, now);
      auctions.tenureChanged(rest, change);
      return;
    case "contender": {
      const slash = rest.lastIndexOf("/");
      const replica = rest.slice(0, slash);
      host.setContender(replica, rest.slice(slash + 1), known<Contender>(change), now);
      auctions.contenderChanged(replica);
      return;
    }
    case "primary":
      host.setPrimary(rest, known<Primary>(change), now);
      return;
    case "trouble":
      host.setTrouble(rest, known<Trouble>(change), now);
      auctions.troubleChanged(rest);
      return;
    case "auction":
      auctions.feed(rest, known(change));
      return;
    default:
      return;
  }
}

function known<T>(change: ImageChange): Known<T> | undefined {
  return change.entry && { value: JSON.parse(change.entry.value) as T, revision: change.entry.revision };
}
