/**
 * What a service that makes its own list of shards keeps in the store: the list (`head`), and whatever it wants to say of each. Read from this node's copy
 * of the store; written in guarded commits. The nodes of the service follow the head by themselves: a shard that is added is a lot or
 * a line of the next view, one that is taken off is released by its holder.
 */
import {
  STORE_LIMITS,
  StoreError,
  lowerAfterDrain,
  raiseBeforeJoin,
  readRecordText,
  setMaxBids,
  type AuctionConfig,
  type Commit,
  type CommitReport,
  type Epoch,
  type Guard,
  type Keys,
  type Known,
  type Override,
  type Write,
} from "@keelson/kernel";
import type { Committer } from "../commits/committer.ts";
import type { Mirror } from "../mirror/mirror.ts";

/** `catalogue/<service>/head`. `n` must rise with every change: it is the revision of the view's parameters. */
export interface CatalogueHead {
  readonly v: 1;
  readonly n: number;
  /** Besides those that the service declares itself. */
  readonly shardIds: readonly string[];
  /** More of them, by number, as `encodeNumbers` writes them. */
  readonly shardNumbers?: string;
  /** Of each shard; as the service declares, when left out. */
  readonly replicas?: number;
}

export interface CatalogueChange {
  /** The revision of each record that the change rests on; 0 when it rests on its absence. */
  readonly guards: readonly { readonly about: string; readonly revision: number }[];
  /** Undefined deletes. */
  readonly writes: readonly { readonly about: string; readonly value: unknown }[];
  /** The change is made by the holder of this replica, and is refused once it no longer is. */
  readonly holder?: { readonly replica: string; readonly epoch: Epoch };
  /** What operators say of a shard at auctions; undefined takes it back. */
  readonly overrides?: readonly { readonly shard: string; readonly value: Override | undefined }[];
  /** Shards that are gone for good, each with as many replicas as it had: what auctions remember of them is deleted. Of one that may be listed again it has to stay. */
  readonly forgotten?: readonly { readonly shard: string; readonly replicas: number }[];
}

/** Of the number of answers at which auctions close: what it is from now on (undefined: live bidders are counted), or how many nodes are about to join, or have drained and gone. */
export type MaxBidsChange =
  | { readonly maxBids: number | undefined }
  | { readonly joining: number }
  | { readonly gone: number };

export class Catalogue {
  readonly service: string;
  readonly #keys: Keys;
  readonly #mirror: Mirror;
  readonly #committer: Committer;
  readonly #prefix: string;

  constructor(service: string, ports: { keys: Keys; mirror: Mirror; committer: Committer }) {
    this.service = service;
    this.#keys = ports.keys;
    this.#mirror = ports.mirror;
    this.#committer = ports.committer;
    this.#prefix = ports.keys.catalogue(service, "");
  }

  get head(): Known<CatalogueHead> | undefined {
    return this.get<CatalogueHead>("head");
  }

  get<T>(about: string): Known<T> | undefined {
    const entry = this.#mirror.image.get(this.#keys.catalogue(this.service, about));
    return entry && { value: JSON.parse(entry.value) as T, revision: entry.revision };
  }

  /** Every record, in no order, that changed from now on, and all that there are at first. Returns how to end it. */
  follow(changed: (about: string, known: Known<unknown> | undefined) => void): () => void {
    return this.#mirror.subscribe({
      listed: () => undefined,
      changed: (changes) => {
        for (const { key, entry } of changes) {
          if (!key.startsWith(this.#prefix)) continue;
          const known = entry && { value: JSON.parse(entry.value) as unknown, revision: entry.revision };
          changed(key.slice(this.#prefix.length), known);
        }
      },
    });
  }

  /** Resolves with what became of it; what it wrote is in the copy by then. Rejects with STORE_REJECTED what no store would take: it comes from whoever asked the service, and must not end the node. */
  commit(change: CatalogueChange): Promise<CommitReport> {
    const keys = this.#keys;
    const guards: Guard[] = change.guards.map(({ about, revision }) => ({
      key: keys.catalogue(this.service, about),
      revision,
    }));
    if (change.holder)
      guards.push({ key: keys.tenure(change.holder.replica), revision: change.holder.epoch.revision });
    const writes: Write[] = change.writes.map(({ about, value }) =>
      write(keys.catalogue(this.service, about), value),
    );
    for (const { shard, value } of change.overrides ?? [])
      writes.push(write(keys.auction(this.service, "override", shard), value));
    for (const key of (change.forgotten ?? []).flatMap((shard) => this.#remembered(shard)))
      if (this.#mirror.image.get(key)) writes.push(write(key, undefined));
    if (change.forgotten && writes.length === 0) return Promise.resolve("committed");
    return this.#send({ guards, writes });
  }

  /** Undefined while live bidders are counted, or a number that nodes were started with holds. */
  get maxBids(): number | undefined {
    return this.#auctionConfig?.value.maxBids;
  }

  /** For all of the service; what is said of one shard stays. Rounds that run are not cut short by it. */
  changeMaxBids(change: MaxBidsChange): Promise<CommitReport> {
    const about = [this.#keys, this.service, this.#auctionConfig] as const;
    const commit =
      "maxBids" in change
        ? setMaxBids(...about, change.maxBids)
        : "joining" in change
          ? raiseBeforeJoin(...about, change.joining)
          : lowerAfterDrain(...about, change.gone);
    return commit ? this.#send(commit) : Promise.resolve("committed");
  }

  get #auctionConfig(): Known<AuctionConfig> | undefined {
    const entry = this.#mirror.image.get(this.#keys.auction(this.service, "config"));
    // What cannot be read says nothing, and is written over.
    return (
      entry && {
        value: readRecordText("config", entry.value).value ?? { v: 1 },
        revision: entry.revision,
      }
    );
  }

  #send(commit: Commit): Promise<CommitReport> {
    const problem = problemOf(commit);
    if (problem !== undefined) return Promise.reject(new StoreError("STORE_REJECTED", problem));
    return new Promise((resolve) => {
      this.#committer.alone(commit, (report) => resolve(report));
    });
  }

  #remembered({ shard, replicas }: { readonly shard: string; readonly replicas: number }): string[] {
    const rounds = Array.from({ length: replicas }, (_, replica) =>
      this.#keys.auction(this.service, "round", `${shard}/${replica}`),
    );
    return [this.#keys.auction(this.service, "footprint", shard), ...rounds];
  }
}

/** Undefined when it keeps to the limits of stores. */
function problemOf({ guards, writes }: Commit): string | undefined {
  const { operationsMax, valueBytesMax } = STORE_LIMITS;
  if (Math.max(guards.length, writes.length) > operationsMax)
    return `a change of the catalogue has ${writes.length} writes, and ${operationsMax} are allowed`;
  if (new Set(writes.map(({ key }) => key)).size < writes.length)
    return "a change of the catalogue writes a record twice";
  const large = writes.find((each) => each.kind === "put" && Buffer.byteLength(each.value) > valueBytesMax);
  return large && `${large.key} has more than ${valueBytesMax} bytes`;
}

function write(key: string, value: unknown): Write {
  return value === undefined ? { kind: "delete", key } : { kind: "put", key, value: JSON.stringify(value) };
}
