import type { Commit, ReplicaKey, Tenure } from "@keelson/kernel";
import type { SimEvent } from "../../events.ts";
import type { Scene } from "../checker.ts";

/** A grant by rank as its node sent it. */
interface SentGrant {
  /** The node had the replica ready, or had it a moment before. */
  readonly ready: boolean;
  /** The round that was open in the store. */
  readonly round: number;
}

/**
 * Who may take a first tenure with no auction: a node that had the replica ready when it sent the grant, however late that lands, as long as no round has closed in between. Looked at when it is
 * sent, because a node may let go of what it had while its grant is under way.
 */
export class FirstTenures {
  readonly #scene: Scene;
  readonly #roundOf: (replica: ReplicaKey) => number;
  /** What each node has built, and until when that counts. */
  readonly #built = new Map<string, Map<ReplicaKey, number>>();
  /** By replica and session. */
  readonly #sent = new Map<string, SentGrant>();

  constructor(scene: Scene, roundOf: (replica: ReplicaKey) => number) {
    this.#scene = scene;
    this.#roundOf = roundOf;
  }

  on(event: SimEvent): void {
    if (event.kind === "memory") {
      if (event.what === "built") this.#builtBy(event.node).set(event.replica, Infinity);
      else if (event.what === "freed") this.#builtBy(event.node).set(event.replica, this.#sentUntil());
    } else if (event.kind === "node") {
      const built = this.#builtBy(event.node);
      for (const [replica, until] of built) built.set(replica, Math.min(until, this.#sentUntil()));
    } else if (event.kind === "commit-sent") this.#send(event.node, event.commit);
  }

  /** What is wrong with this first tenure that came with no close of a round; undefined when nothing is. */
  problem(replica: ReplicaKey, { node, session }: Pick<Tenure, "node" | "session">): string | undefined {
    const sent = this.#sent.get(`${replica} ${session}`);
    if (!sent?.ready) return `${node} has a first tenure that no auction gave it`;
    if (this.#roundOf(replica) > sent.round)
      return `${node} has a first tenure that it took by rank before round ${this.#roundOf(replica) - 1} closed`;
    return undefined;
  }

  #send(node: string, { writes }: Commit): void {
    const { keys, contenders } = this.#scene.ledger;
    const written = new Set(writes.map(({ key }) => key));
    for (const write of writes) {
      const parsed = write.kind === "put" ? keys.parse(write.key) : undefined;
      if (write.kind !== "put" || parsed?.kind !== "tenure") continue;
      const replica = parsed.rest;
      const { how, session } = JSON.parse(write.value) as Tenure;
      if (how !== "grant" || written.has(keys.auction(this.#scene.service.name, "round", replica))) continue;
      const ready =
        contenders.get(`${replica}/${node}`)?.value.phase === "ready" ||
        (this.#builtBy(node).get(replica) ?? -Infinity) > this.#scene.now();
      const round = this.#roundOf(replica);
      const before = this.#sent.get(`${replica} ${session}`);
      // The same grant may be sent again, and which of them lands cannot be told.
      this.#sent.set(`${replica} ${session}`, { ready: ready || before?.ready === true, round });
    }
  }

  /** A commit that was decided before now may wait behind two others, each as long as a commit may take. */
  #sentUntil(): number {
    return this.#scene.now() + 2 * this.#scene.terms.commitTimeoutMs;
  }

  #builtBy(node: string): Map<ReplicaKey, number> {
    let built = this.#built.get(node);
    if (!built) this.#built.set(node, (built = new Map<ReplicaKey, number>()));
    return built;
  }
}
