/** The numbers of services and which shards each has, as its view says. A change of the list becomes rows that are added and rows that are gone. */
import { replicaKey, shardIds, type Keys, type StoreImage, type View } from "@keelson/kernel";
import { entryValue } from "../../mirror/entry-value.ts";
import type { FeedAdded, FeedService } from "./frames.ts";
import type { ReplicaTable } from "./replica-table.ts";

interface Known {
  readonly i: number;
  readonly service: string;
  view: View;
  /** By shard, the number of its first replica. */
  shards: Map<string, number>;
}

export interface Relisted {
  readonly added: readonly FeedAdded[];
  readonly removed: readonly number[];
}

/** A page reads the names of so many shards in a few milliseconds. */
const shardsPerFrameMax = 10_000;

const NOTHING: Relisted = { added: [], removed: [] };

export class ServiceBook {
  readonly #keys: Keys;
  readonly #image: StoreImage;
  readonly #table: ReplicaTable;
  readonly #known = new Map<string, Known>();

  constructor(keys: Keys, image: StoreImage, table: ReplicaTable) {
    this.#keys = keys;
    this.#image = image;
    this.#table = table;
  }

  names(): Iterable<string> {
    return this.#known.keys();
  }

  view(service: string): View | undefined {
    return this.#known.get(service)?.view;
  }

  replicas(service: string): number {
    return this.#known.get(service)?.view.parameters.replicas ?? 1;
  }

  /** Numbers of all its replicas. */
  *rows(service: string): Iterable<number> {
    const replicas = this.replicas(service);
    for (const first of this.#known.get(service)?.shards.values() ?? [])
      for (let replica = 0; replica < replicas; replica++) yield first + replica;
  }

  /** What is said of it; undefined when it has no view. */
  say(service: string): FeedService | undefined {
    const known = this.#known.get(service);
    if (!known) return undefined;
    const { i, view, shards } = known;
    return {
      i,
      service,
      placement: view.algorithm,
      view: view.n,
      members: view.members.length,
      shards: shards.size,
      replicas: view.parameters.replicas,
      states: { ...this.#table.states(i) },
    };
  }

  /** Reads its view anew. */
  look(service: string): Relisted {
    const entry = this.#image.get(this.#keys.view(service));
    if (!entry) return NOTHING;
    const view = entryValue(entry) as View;
    let known = this.#known.get(service);
    if (!known) this.#known.set(service, (known = { i: this.#known.size, service, view, shards: new Map() }));
    const ids = shardIds(view.parameters);
    const { replicas } = view.parameters;
    const before = known.view.parameters;
    known.view = view;
    // A service that keeps as many shards as it had, by number, keeps its list.
    const plain = view.parameters.shardIds === undefined && before.shardIds === undefined;
    if (plain && before.replicas === replicas && known.shards.size === ids.length) return NOTHING;
    return this.#relist(known, ids, replicas, before.replicas);
  }

  /** All rows as a new reader must be told of them; those that are gone stay gaps. */
  *everything(): Iterable<FeedAdded> {
    for (const { i, view, shards } of this.#known.values()) {
      const { replicas } = view.parameters;
      let run: { from: number; next: number; ids: string[] } | undefined;
      for (const [id, first] of shards) {
        if (run?.next === first && run.ids.length < shardsPerFrameMax) run.ids.push(id);
        else {
          if (run) yield addedOf(i, run.from, replicas, run.ids);
          run = { from: first, next: first, ids: [id] };
        }
        run.next = first + replicas;
      }
      if (run) yield addedOf(i, run.from, replicas, run.ids);
    }
  }

  #relist(known: Known, ids: readonly string[], replicas: number, replicasBefore: number): Relisted {
    const { service, i } = known;
    const table = this.#table;
    const wanted = new Set(ids);
    const removed: number[] = [];
    const same = replicas === replicasBefore;
    for (const [id, first] of known.shards) {
      if (same && wanted.has(id)) continue;
      for (let replica = 0; replica < replicasBefore; replica++) {
        table.remove(first + replica);
        removed.push(first + replica);
      }
      known.shards.delete(id);
    }
    const from = table.size;
    const fresh = ids.filter((id) => !known.shards.has(id));
    for (const id of fresh) {
      known.shards.set(id, table.size);
      for (let replica = 0; replica < replicas; replica++) table.add(replicaKey(service, id, replica), i);
    }
    const added: FeedAdded[] = [];
    for (let at = 0; at < fresh.length; at += shardsPerFrameMax)
      added.push(addedOf(i, from + at * replicas, replicas, fresh.slice(at, at + shardsPerFrameMax)));
    return { removed, added };
  }
}

/** Ids that are numbers in a row are said as that. */
function addedOf(service: number, from: number, replicas: number, ids: readonly string[]): FeedAdded {
  const first = Number(ids[0]);
  const inRow =
    Number.isSafeInteger(first) && first >= 0 && ids.every((id, index) => id === String(first + index));
  return { service, from, replicas, shards: inRow ? { from: first, count: ids.length } : ids };
}
