import { parseReplicaKey, shardKey, type ReplicaKey } from "../identity/keys.ts";
import type { HostMachine } from "../lifecycle/host-machine.ts";
import { judgeTrouble } from "../lifecycle/trouble.ts";
import type { Board } from "./board.ts";
import { compareLots } from "./order.ts";

/** A replica that is up for auction or claim. */
export interface Lot {
  readonly replica: ReplicaKey;
  readonly shard: string;
  readonly shardKey: string;
  /** Nobody holds it; its holder is no bidder any more; or somebody asked for it to be moved. */
  readonly why: "unheld" | "leaving" | "move";
  readonly pinned: boolean;
  /** The revision at which it became unheld; 0 when that was before anyone here looked, or when it is held. */
  readonly since: number;
  /** Revision of the tenure that is to be moved; 0 when unheld. */
  readonly tenure: number;
  readonly holder: string | undefined;
  readonly holderSession: string | undefined;
  /** Nobody bids before this. */
  readonly at: number;
  /** When it came up as it is, as this node saw it. An answer from before, to a lot that somebody took by rank and lost again, counts from here on. */
  readonly upAt: number;
}

/** So few changes are put where they belong; for more, all are sorted again. */
const PIECEMEAL_MAX = 64;

/** Which replicas are lots, in the order in which all go through them. Follows from the facts, replica by replica as these change. */
export class Lots {
  readonly #host: HostMachine;
  readonly #board: Board;
  readonly #lots = new Map<ReplicaKey, Lot>();
  readonly #vacatedAt = new Map<ReplicaKey, number>();
  readonly #dirty = new Set<ReplicaKey>();
  #replicas: ReadonlySet<ReplicaKey> = new Set();
  #bidders: ReadonlySet<string> = new Set();
  #graceMs = 0;
  #eraSince = 0;
  #order: Lot[] | undefined;

  constructor(host: HostMachine, board: Board) {
    this.#host = host;
    this.#board = board;
  }

  get size(): number {
    return this.#lots.size;
  }

  get(replica: ReplicaKey): Lot | undefined {
    return this.#lots.get(replica);
  }

  /** A new plan: which replicas there are, and who may take them. */
  set(replicas: ReadonlySet<ReplicaKey>, bidders: ReadonlySet<string>, graceMs: number): void {
    for (const replica of this.#replicas) if (!replicas.has(replica)) this.#dirty.add(replica);
    this.#replicas = replicas;
    this.#bidders = bidders;
    this.#graceMs = graceMs;
    for (const replica of replicas) this.#dirty.add(replica);
  }

  eraOpened(now: number): void {
    this.#eraSince = now;
    for (const replica of this.#lots.keys()) this.#dirty.add(replica);
  }

  touch(replica: ReplicaKey): void {
    this.#dirty.add(replica);
  }

  /** Its tenure went at this revision. */
  vacated(replica: ReplicaKey, revision: number): void {
    this.#vacatedAt.set(replica, revision);
    this.#dirty.add(replica);
  }

  /** Brings what was touched up to date, and returns it. */
  refresh(now: number): ReplicaKey[] {
    const touched = [...this.#dirty];
    this.#dirty.clear();
    if (touched.length > PIECEMEAL_MAX) this.#order = undefined;
    for (const replica of touched) {
      const before = this.#lots.get(replica);
      const lot = this.#replicas.has(replica) ? this.#lotOf(replica, before, now) : undefined;
      if (!lot && !before) continue;
      if (lot && before && same(lot, before)) continue;
      if (lot) this.#lots.set(replica, lot);
      else this.#lots.delete(replica);
      if (before) this.#order?.splice(this.#placeOf(before), 1);
      if (lot) this.#order?.splice(this.#placeOf(lot), 0, lot);
    }
    return touched;
  }

  /** First come first. */
  ordered(): readonly Lot[] {
    return (this.#order ??= [...this.#lots.values()].sort(compareLots));
  }

  /** Where a lot is in the order, or would be. */
  #placeOf(lot: Lot): number {
    const order = this.#order ?? [];
    let from = 0;
    let to = order.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (compareLots(order[middle]!, lot) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  #lotOf(replica: ReplicaKey, before: Lot | undefined, now: number): Lot | undefined {
    const { service, shard } = parseReplicaKey(replica);
    const facts = this.#host.facts.replica(replica, now);
    const { tenure, award } = facts;
    // Whoever is getting ready will take it, or withdraw.
    if (facts.contenders.size > 0) return undefined;
    const name = shardKey(service, shard);
    const pinned = this.#board.overrides.get(name)?.value.pinned === true;
    if (!tenure) {
      const { trouble, troubleSince } = this.#host.facts.shard(name, now);
      const verdict = judgeTrouble(trouble?.value, troubleSince, now, this.#host.terms);
      const at = Math.max(facts.since, this.#eraSince) + this.#graceMs;
      return {
        replica,
        shard,
        shardKey: name,
        why: "unheld",
        pinned,
        since: this.#vacatedAt.get(replica) ?? this.#board.rounds.get(replica)?.value.unheldAt ?? 0,
        tenure: 0,
        holder: undefined,
        holderSession: undefined,
        at: verdict.kind === "free" ? at : Math.max(at, verdict.until),
        upAt: before?.tenure === 0 ? before.upAt : now,
      };
    }
    const { node, session } = tenure.value;
    if (award?.value.fromSession === session) return undefined;
    const leaving = !this.#bidders.has(node);
    if (!leaving && this.#board.moves.get(replica)?.value.fromSession !== session) return undefined;
    return {
      replica,
      shard,
      shardKey: name,
      why: leaving ? "leaving" : "move",
      pinned,
      since: 0,
      tenure: tenure.revision,
      holder: node,
      holderSession: session,
      at: -Infinity,
      upAt: before?.tenure === tenure.revision ? before.upAt : now,
    };
  }
}

function same(a: Lot, b: Lot): boolean {
  return (
    a.why === b.why &&
    a.pinned === b.pinned &&
    a.since === b.since &&
    a.tenure === b.tenure &&
    a.holder === b.holder &&
    a.at === b.at
  );
}
