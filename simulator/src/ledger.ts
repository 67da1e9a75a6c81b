import {
  decodePlanChunk,
  type ChangeBatch,
  type Contender,
  type Entry,
  type EraRecord,
  type Keys,
  type Member,
  type PlanChunk,
  type Primary,
  type ReplicaKey,
  type Tenure,
  type View,
} from "@keelson/kernel";
import { entryValue } from "@keelson/runtime";

/** A stored value and the revision of its last write. */
export interface Stored<T> {
  readonly value: T;
  readonly revision: number;
  readonly session: string | undefined;
}

/**
 * What the store says, at this very instant and in parsed form: for checkers, which know more than any node can. It is fed with every change
 * as it happens, and anew when the store comes back from a failure.
 */
export class Ledger {
  readonly keys: Keys;
  readonly tenures = new Map<ReplicaKey, Stored<Tenure>>();
  readonly members = new Map<string, Stored<Member>>();
  readonly views = new Map<string, Stored<View>>();
  /** By shard. */
  readonly primaries = new Map<string, Stored<Primary>>();
  /** By `replica/node`. */
  readonly contenders = new Map<string, Stored<Contender>>();
  readonly troubles = new Map<string, Stored<{ readonly strikes: number }>>();
  /** Of plans that are kept in the store, by `service/chunk`. */
  readonly #chunks = new Map<string, PlanChunk>();
  era: Stored<EraRecord> | undefined;

  constructor(keys: Keys) {
    this.keys = keys;
  }

  /** The stored plan of a service. */
  *chunks(service: string): Iterable<PlanChunk> {
    for (const [name, chunk] of this.#chunks) if (name.startsWith(`${service}/`)) yield chunk;
  }

  apply(batch: ChangeBatch): void {
    for (const change of batch.changes)
      if (change.kind === "put") this.#set(change.entry.key, change.entry);
      else this.#set(change.key, undefined);
  }

  reload(entries: Iterable<Entry>): void {
    for (const map of [
      this.tenures,
      this.members,
      this.views,
      this.primaries,
      this.contenders,
      this.troubles,
    ])
      map.clear();
    this.#chunks.clear();
    this.era = undefined;
    for (const entry of entries) this.#set(entry.key, entry);
  }

  #set(key: string, entry: Entry | undefined): void {
    const parsed = this.keys.parse(key);
    switch (parsed?.kind) {
      case "tenure":
        return put(this.tenures, parsed.rest, entry);
      case "member":
        return put(this.members, parsed.rest, entry);
      case "view":
        return put(this.views, parsed.rest, entry);
      case "primary":
        return put(this.primaries, parsed.rest, entry);
      case "contender":
        return put(this.contenders, parsed.rest, entry);
      case "plan":
        return this.#setChunk(parsed.rest, entry);
      case "trouble":
        return put(this.troubles, parsed.rest, entry);
      default:
        if (key === this.keys.era) this.era = entry && stored<EraRecord>(entry);
    }
  }

  #setChunk(name: string, entry: Entry | undefined): void {
    const chunk = entry && decodePlanChunk(entry.value);
    if (chunk && !("problem" in chunk)) this.#chunks.set(name, chunk);
    else this.#chunks.delete(name);
  }
}

function put<T>(map: Map<string, Stored<T>>, name: string, entry: Entry | undefined): void {
  if (entry) map.set(name, stored(entry));
  else map.delete(name);
}

function stored<T>(entry: Entry): Stored<T> {
  return { value: entryValue(entry) as T, revision: entry.revision, session: entry.session };
}
