import type { ReplicaKey } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import { FAULTS } from "../faults/fault.ts";
import type { Checker, NodeProbe, Scene } from "./checker.ts";

/**
 * Promise 3: a replica whose node is lost is held again within TTL + 1 s, overlapping losses included. Counted from the last disturbance of that replica:
 * - a fault that begins or ends on the node that has its tenure (for hindrances, as long as they last);
 * - a tenure given to a node that is not well, or a renewal of its session that reaches the store late;
 * - a failed open;
 * - the store coming back, an era opening;
 * - the moment there are enough healthy members again.
 *
 * Beyond TTL + 1 s it allows for the drift of clocks, the time that prepare and activate take, one takeover step per member that is not well, and the wait that strikes against
 * the shard impose.
 */
export class HeldAgainChecker implements Checker {
  readonly name = "held-again";
  readonly hears = [
    "fault",
    "node",
    "late-renewal",
    "store-recovered",
    "decision",
    "store-changed",
    "second",
  ] as const;
  readonly #scene: Scene;
  /** What is kept of each replica lies in arrays, at its place in the list: all of them are looked at every second. */
  readonly #places: ReadonlyMap<ReplicaKey, number>;
  readonly #disturbed: Float64Array;
  readonly #lastHolder: Int32Array;
  readonly #reported = new Set<ReplicaKey>();
  /** Faults under way, by node. */
  readonly #ill = new Map<string, Set<number>>();
  /** How many hindrances are under way, by node. */
  readonly #hindrances = new Map<string, number>();
  #everywhere = 0;
  #hinderedEverywhere = 0;
  #eraOpen = false;

  constructor(scene: Scene) {
    this.#scene = scene;
    const { replicas } = scene.service;
    this.#places = new Map(replicas.map((replica, place) => [replica, place]));
    this.#disturbed = new Float64Array(replicas.length);
    this.#lastHolder = new Int32Array(replicas.length);
  }

  on(event: SimEvent): void {
    switch (event.kind) {
      case "fault":
        return this.#fault(event);
      case "node":
      case "late-renewal":
        return this.#disturbNode(event.node);
      case "store-recovered":
        return this.#disturbAll();
      case "decision":
        if (event.decision.kind === "failed" && event.decision.replica !== undefined)
          this.#disturb(event.decision.replica);
        return;
      case "store-changed":
        for (const change of event.batch.changes)
          this.#changed(change.kind === "put" ? change.entry.key : change.key, change.kind);
        return;
      case "second":
        return this.#look();
      default:
    }
  }

  #fault({ edge, fault }: SimEvent & { kind: "fault" }): void {
    if (fault.node === undefined) {
      if (FAULTS[fault.kind].effect === "hindrance") this.#hinderedEverywhere += edge === "begin" ? 1 : -1;
      return this.#disturbAll();
    }
    const faults = this.#ill.get(fault.node) ?? new Set();
    this.#ill.set(fault.node, faults);
    if (edge === "begin") faults.add(fault.id);
    else faults.delete(fault.id);
    this.#disturbNode(fault.node);
    if (FAULTS[fault.kind].effect !== "hindrance") return;
    const change = edge === "begin" ? 1 : -1;
    this.#hindrances.set(fault.node, (this.#hindrances.get(fault.node) ?? 0) + change);
  }

  #changed(key: string, kind: "put" | "delete"): void {
    const { ledger } = this.#scene;
    if (key === ledger.keys.era) {
      this.#eraOpen = ledger.era?.value.phase === "open";
      return this.#disturbAll();
    }
    const parsed = ledger.keys.parse(key);
    if (parsed?.kind !== "tenure" || kind !== "put") return;
    const node = ledger.tenures.get(parsed.rest)?.value.node;
    if (node !== undefined && !this.#isWell(node)) this.#disturb(parsed.rest);
  }

  #disturbAll(): void {
    this.#everywhere = this.#scene.now();
  }

  #disturbNode(node: string): void {
    for (const [replica, tenure] of this.#scene.ledger.tenures)
      if (tenure.value.node === node) this.#disturb(replica);
  }

  #disturb(replica: ReplicaKey): void {
    const place = this.#places.get(replica);
    if (place !== undefined) this.#disturbed[place] = this.#scene.now();
  }

  /** Runs, has nothing wrong, and is in the view. */
  #isWell(name: string): boolean {
    const node = this.#scene.nodes.find((each) => each.name === name);
    if (!node?.up || node.paused || (this.#ill.get(name)?.size ?? 0) > 0) return false;
    const { ledger, service } = this.#scene;
    return ledger.views.get(service.name)?.value.members.some((member) => member.node === name) === true;
  }

  /** Which node serves it, by its place in the list; -1 when nobody does. The last one is asked first: it nearly always still does. */
  #holder(replica: ReplicaKey, last: number, running: readonly (NodeProbe | undefined)[]): number {
    if (running[last]?.check(replica) === true) return last;
    return running.findIndex((node) => node?.check(replica) === true);
  }

  /** How long a shard with strikes against it is kept waiting, on purpose. */
  #strikesMs(replica: ReplicaKey): number {
    const { ledger, terms } = this.#scene;
    const strikes = ledger.troubles.get(replica.slice(0, replica.lastIndexOf("/")))?.value.strikes ?? 0;
    if (strikes < 2) return 0;
    if (strikes >= terms.quarantineStrikes) return terms.quarantineMs;
    // Of shards with many strikes a node opens one at a time, and looks for its turn four times while the one before it is young.
    const isolatedMs = strikes >= terms.isolateStrikes ? 1.25 * terms.youngMs : 0;
    return isolatedMs + terms.strikeBackoffMs * 2 ** strikes;
  }

  #look(): void {
    const { service, ledger, terms, driftMax } = this.#scene;
    const now = this.#scene.now();
    const members = ledger.views.get(service.name)?.value.members ?? [];
    const well = members.filter(({ node }) => this.#isWell(node)).length;
    if (well < service.parameters.replicas || this.#hinderedEverywhere > 0 || !this.#eraOpen)
      this.#disturbAll();
    const allowedMs =
      terms.ttlMs * (1 + driftMax) +
      1_000 +
      service.openMsMax +
      (members.length - well) * terms.takeoverStepMs;
    const running = this.#scene.nodes.map((node) => (node.up && !node.paused ? node : undefined));
    const { replicas } = service;
    for (let place = 0; place < replicas.length; place++) {
      const replica = replicas[place] as ReplicaKey;
      const last = this.#lastHolder[place] as number;
      const holder = this.#holder(replica, last, running);
      if (holder >= 0) {
        this.#lastHolder[place] = holder;
        this.#disturbed[place] = now;
        if (this.#reported.size > 0) this.#reported.delete(replica);
        continue;
      }
      const tenure = ledger.tenures.get(replica)?.value;
      if (tenure && (this.#hindrances.get(tenure.node) ?? 0) > 0) this.#disturbed[place] = now;
      const since = Math.max(this.#disturbed[place] as number, this.#everywhere);
      const limitMs = allowedMs + this.#strikesMs(replica);
      if (now - since <= limitMs || this.#reported.has(replica)) continue;
      this.#reported.add(replica);
      this.#scene.report(
        this.name,
        replica,
        `nobody has served it for ${Math.round(now - since)} ms, which is more than ${Math.round(limitMs)}; ${
          tenure ? `its tenure is ${tenure.node}'s` : "it has no tenure"
        }, and ${well} of ${members.length} members are well`,
      );
    }
  }
}
