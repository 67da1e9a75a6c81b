/**
 * The fleet as a copy of the store shows it at one moment, taken apart by kind of key. Values are parsed once per entry, however often they are asked
 * for: a fleet of 100,000 replicas is looked at again and again, and little of it changes in between.
 */
import {
  readWishes,
  type Contender,
  type Entry,
  type EraRecord,
  type Keys,
  type ManagerRecord,
  type Member,
  type Primary,
  type ProtocolRecord,
  type ReplicaKey,
  type Tenure,
  type Trouble,
  type View,
  type Wishes,
} from "@keelson/kernel";

/** A value with the revision of its key. */
interface Fact<T> {
  readonly value: T;
  readonly revision: number;
}

export interface FleetFacts {
  readonly keys: Keys;
  readonly members: ReadonlyMap<string, Fact<Member>>;
  readonly views: ReadonlyMap<string, Fact<View>>;
  readonly tenures: ReadonlyMap<ReplicaKey, Fact<Tenure>>;
  /** By replica, then by node. */
  readonly contenders: ReadonlyMap<ReplicaKey, ReadonlyMap<string, Fact<Contender>>>;
  /** By `service/shard`, as are the primaries. */
  readonly troubles: ReadonlyMap<string, Fact<Trouble>>;
  readonly primaries: ReadonlyMap<string, Fact<Primary>>;
  /** Chunks of stored plans, by service. */
  readonly plans: ReadonlyMap<string, readonly Entry[]>;
  readonly era: EraRecord | undefined;
  readonly protocol: ProtocolRecord | undefined;
  readonly manager: ManagerRecord | undefined;
  readonly wishes: Wishes;
}

const parsed = new WeakMap<Entry, Fact<unknown>>();

/** The entry's value, parsed; the same object for the same entry. */
function factOf<T>(entry: Entry): Fact<T> {
  let fact = parsed.get(entry);
  if (!fact) parsed.set(entry, (fact = { value: JSON.parse(entry.value), revision: entry.revision }));
  return fact as Fact<T>;
}

export function takeFacts(
  keys: Keys,
  copy: { get(key: string): Entry | undefined; entries(): Iterable<Entry> },
): FleetFacts {
  const members = new Map<string, Fact<Member>>();
  const views = new Map<string, Fact<View>>();
  const tenures = new Map<ReplicaKey, Fact<Tenure>>();
  const contenders = new Map<ReplicaKey, Map<string, Fact<Contender>>>();
  const troubles = new Map<string, Fact<Trouble>>();
  const primaries = new Map<string, Fact<Primary>>();
  const plans = new Map<string, Entry[]>();
  const wishes: Entry[] = [];
  for (const entry of copy.entries()) {
    const key = keys.parse(entry.key);
    if (!key) continue;
    const { kind, rest } = key;
    if (kind === "tenure") tenures.set(rest, factOf(entry));
    else if (kind === "member") members.set(rest, factOf(entry));
    else if (kind === "view") views.set(rest, factOf(entry));
    else if (kind === "trouble") troubles.set(rest, factOf(entry));
    else if (kind === "primary") primaries.set(rest, factOf(entry));
    else if (kind === "operator") wishes.push(entry);
    else if (kind === "contender") {
      const slash = rest.lastIndexOf("/");
      within(contenders, rest.slice(0, slash), () => new Map()).set(rest.slice(slash + 1), factOf(entry));
    } else if (kind === "plan")
      within(plans, rest.slice(0, rest.indexOf("/")), (): Entry[] => []).push(entry);
  }
  const one = <T>(key: string): T | undefined => {
    const entry = copy.get(key);
    return entry && factOf<T>(entry).value;
  };
  return {
    keys,
    members,
    views,
    tenures,
    contenders,
    troubles,
    primaries,
    plans,
    era: one<EraRecord>(keys.era),
    protocol: one<ProtocolRecord>(keys.protocol),
    manager: one<ManagerRecord>(keys.manager),
    wishes: readWishes(keys, wishes),
  };
}

function within<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
