import {
  auctionValue,
  serviceOf,
  type Contender,
  type Election,
  type Entry,
  type HostMachine,
  type ImageChange,
  type KeyKind,
  type Keys,
  type Known,
  type ManagerRecord,
  type Member,
  type Primary,
  type ReplicaKey,
  type StoreImage,
  type Tenure,
  type Trouble,
  type View,
} from "@keelson/kernel";
import type { Auctions } from "../auction/auctions.ts";
import type { CatalogueHead } from "../catalogue/catalogue.ts";
import type { Manager } from "../manager/manager.ts";
import { entryValue } from "../mirror/entry-value.ts";
import type { Eras } from "./eras.ts";
import type { Followers } from "./followers.ts";
import type { Views } from "./views.ts";

/** Whom a change in the copy of the store may concern. */
export interface Fed {
  /** Undefined: every change is told. Otherwise of tenures and contenders only what its node follows, or is named in. */
  readonly followers: Followers<Fed> | undefined;
  readonly keys: Keys;
  readonly host: HostMachine;
  readonly views: Views;
  readonly eras: Eras;
  readonly election: Election;
  readonly manager: Manager;
  readonly auctions: Auctions;
}

/** A change, read: what its key is about, and its value. */
interface ReadChange {
  readonly kind: KeyKind;
  readonly rest: string;
  readonly known: Known<unknown> | undefined;
  readonly change: ImageChange;
}

interface ReadBatch {
  readonly kinds: ReadonlySet<KeyKind>;
  readonly changes: readonly ReadChange[];
  /** By service: how many more of its replicas have a holder than before. */
  readonly held: ReadonlyMap<string, number>;
  /** To whom something was granted. */
  readonly granted: ReadonlySet<string>;
  /** Of a batch of tenures and contenders and nothing else: sorted by whom they concern, once somebody has asked. */
  sorted: ReadonlyMap<Fed, readonly ReadChange[]> | undefined;
}

/** Nodes that share a copy of the store are told of the same batches: each batch is read once. */
const readBatches = new WeakMap<readonly ImageChange[], ReadBatch>();

/**
 * Tells the machines of a node what changed in its copy of the store, key by key. It only tells; nothing is decided here. Returns whether any of them may have something
 * to decide: most of what a large fleet writes is about replicas that this node has nothing to do with.
 */
export function feed(fed: Fed, changes: readonly ImageChange[], now: number): boolean {
  const { host, views, manager, auctions, followers } = fed;
  let batch = readBatches.get(changes);
  if (!batch) readBatches.set(changes, (batch = read(fed.keys, changes)));
  let concerned = auctions.any;
  let sortable = true;
  for (const kind of batch.kinds) {
    if (manager.noticed(kind)) concerned = true;
    if (kind !== "tenure" && kind !== "contender") sortable = false;
  }
  if (!sortable) concerned = true;
  for (const [service, more] of batch.held) views.countHeld(service, more);
  if (followers && sortable) {
    for (const node of batch.granted) host.facts.setGranted(node, now);
    batch.sorted ??= followers.sort(batch.changes, concerns);
    for (const change of batch.sorted.get(fed) ?? []) feedOne(fed, change, now);
  } else for (const change of batch.changes) feedOne(fed, change, now);
  return concerned || host.touched;
}

function concerns({ kind, rest, known }: ReadChange): { replica: ReplicaKey; node: string | undefined } {
  if (kind === "tenure") return { replica: rest, node: (known?.value as Tenure | undefined)?.node };
  const slash = rest.lastIndexOf("/");
  return { replica: rest.slice(0, slash), node: rest.slice(slash + 1) };
}

/** A tenure as the copy of the store has it. */
export function knownTenure(entry: Entry | undefined): Known<Tenure> | undefined {
  return entry && { value: entryValue(entry) as Tenure, revision: entry.revision };
}

/** Who contends for a replica, as the copy of the store has it. */
export function knownContenders(
  image: StoreImage,
  replica: ReplicaKey,
): ReadonlyMap<string, Known<Contender>> | undefined {
  const entries = image.group(replica);
  if (!entries) return undefined;
  const contenders = new Map<string, Known<Contender>>();
  for (const entry of entries)
    contenders.set(entry.key.slice(entry.key.lastIndexOf("/") + 1), {
      value: entryValue(entry) as Contender,
      revision: entry.revision,
    });
  return contenders;
}

function read(keys: Keys, changes: readonly ImageChange[]): ReadBatch {
  const read: ReadChange[] = [];
  const held = new Map<string, number>();
  const granted = new Set<string>();
  for (const change of changes) {
    const parsed = keys.parse(change.key);
    if (!parsed) continue;
    const { kind, rest } = parsed;
    const { entry } = change;
    const known = entry && { value: valueOf(kind, entry), revision: entry.revision };
    read.push({ kind, rest, known, change });
    if (kind !== "tenure") continue;
    const tenure = known?.value as Tenure | undefined;
    if (tenure?.how === "grant") granted.add(tenure.node);
    if ((entry === undefined) === (change.before === undefined)) continue;
    const service = serviceOf(rest);
    held.set(service, (held.get(service) ?? 0) + (entry ? 1 : -1));
  }
  const kinds = new Set(read.map(({ kind }) => kind));
  return { kinds, changes: read, held, granted, sorted: undefined };
}

/** What lies below `auction/` may be of an earlier version, or of nobody's: the machine of its service says what it can make of it. */
function valueOf(kind: KeyKind, entry: Entry): unknown {
  return kind === "auction" ? auctionValue(entry.value, () => entryValue(entry)) : entryValue(entry);
}

function feedOne(fed: Fed, { kind, rest, known, change }: ReadChange, now: number): void {
  const { host, views, eras, election, auctions } = fed;
  const { entry } = change;
  switch (kind) {
    case "fleet":
      if (rest === "era") eras.observe(false);
      if (rest === "manager") election.observe(known as Known<ManagerRecord> | undefined);
      return;
    case "member":
      host.setMember(rest, entry !== undefined);
      views.setMember(rest, known?.value as Member | undefined, entry?.revision ?? 0);
      return;
    case "view":
      views.setView(rest, known?.value as View | undefined, entry?.revision ?? 0);
      return;
    case "plan": {
      const slash = rest.lastIndexOf("/");
      views.setChunk(rest.slice(0, slash), Number(rest.slice(slash + 1)), entry);
      return;
    }
    case "tenure":
      host.setTenure(rest, known as Known<Tenure> | undefined, change.expired, now);
      auctions.tenureChanged(rest, change);
      return;
    case "contender": {
      const slash = rest.lastIndexOf("/");
      const replica = rest.slice(0, slash);
      host.setContender(replica, rest.slice(slash + 1), known as Known<Contender> | undefined, now);
      auctions.contenderChanged(replica);
      return;
    }
    case "primary":
      host.setPrimary(rest, known as Known<Primary> | undefined, now);
      return;
    case "trouble":
      host.setTrouble(rest, known as Known<Trouble> | undefined, now);
      auctions.troubleChanged(rest);
      return;
    case "auction":
      auctions.feed(rest, known);
      return;
    case "catalogue":
      if (rest.endsWith("/head")) views.setHead(serviceOf(rest), known?.value as CatalogueHead | undefined);
      return;
    default:
      return;
  }
}
