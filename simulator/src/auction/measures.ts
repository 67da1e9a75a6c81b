import type { ReplicaKey } from "@keelson/kernel";
import type { Checker, Scene } from "../checkers/checker.ts";
import type { SimEvent } from "../events.ts";

/** What a run with auctions or claims cost, for the report. */
export interface Measured {
  /** From the loss of a holder, or the first view, to serving again, one for each time. */
  readonly readyMs: readonly number[];
  /** Summed over repositories: how long each had no holder. */
  readonly unclaimedSeconds: number;
  /** Indexed again although it had been indexed before. */
  readonly rebuiltBytes: number;
  /** How many nodes ran, on average. */
  readonly meanNodes: number;
}

/** Listens to a run and measures it. It is no checker: nothing it finds is a violation. */
export class Measures implements Pick<Checker, "hears" | "on"> {
  readonly hears: readonly SimEvent["kind"][] = [
    "store-changed",
    "store-recovered",
    "decision",
    "memory",
    "second",
  ];
  readonly #scene: Scene;
  readonly #unreadySince = new Map<ReplicaKey, number>();
  readonly #built = new Set<ReplicaKey>();
  readonly #readyMs: number[] = [];
  #begun = false;
  #unclaimedSeconds = 0;
  #rebuiltBytes = 0;
  #nodeSeconds = 0;
  #seconds = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  get measured(): Measured {
    return {
      readyMs: this.#readyMs.toSorted((a, b) => a - b),
      unclaimedSeconds: this.#unclaimedSeconds,
      rebuiltBytes: this.#rebuiltBytes,
      meanNodes: this.#seconds === 0 ? 0 : this.#nodeSeconds / this.#seconds,
    };
  }

  on(event: SimEvent): void {
    switch (event.kind) {
      case "store-changed":
        return this.#changed(event.batch.changes);
      case "store-recovered":
        return this.#look();
      case "decision":
        if (event.decision.kind === "live" && event.decision.replica !== undefined)
          this.#ready(event.decision.replica);
        return;
      case "memory":
        if (event.what !== "built") return;
        if (this.#built.has(event.replica)) this.#rebuiltBytes += event.bytes;
        this.#built.add(event.replica);
        return;
      case "second":
        return this.#second();
      default:
    }
  }

  #changed(changes: (SimEvent & { kind: "store-changed" })["batch"]["changes"]): void {
    const { keys } = this.#scene.ledger;
    for (const change of changes) {
      const key = change.kind === "put" ? change.entry.key : change.key;
      if (!this.#begun && key === keys.view(this.#scene.service.name)) {
        this.#begun = true;
        this.#look();
      }
      if (change.kind === "put") continue;
      const parsed = keys.parse(key);
      if (parsed?.kind === "tenure") this.#unready(parsed.rest);
    }
  }

  #look(): void {
    for (const replica of this.#scene.service.replicas)
      if (!this.#scene.ledger.tenures.has(replica)) this.#unready(replica);
  }

  #unready(replica: ReplicaKey): void {
    if (!this.#unreadySince.has(replica)) this.#unreadySince.set(replica, this.#scene.now());
  }

  #ready(replica: ReplicaKey): void {
    const since = this.#unreadySince.get(replica);
    if (since === undefined) return;
    this.#unreadySince.delete(replica);
    this.#readyMs.push(this.#scene.now() - since);
  }

  #second(): void {
    this.#seconds++;
    for (const { up } of this.#scene.nodes) if (up) this.#nodeSeconds++;
    if (!this.#begun) return;
    for (const replica of this.#scene.service.replicas)
      if (!this.#scene.ledger.tenures.has(replica)) this.#unclaimedSeconds++;
  }
}

/** The value that a share of the sorted list does not exceed; 0 for none. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
