import type { ReplicaKey } from "@keelson/kernel";
import type { Checker, Scene } from "../checkers/checker.ts";
import type { SimEvent } from "../events.ts";

/** What a run with auctions or claims cost, for the report. */
export interface Measured {
  /** From the moment nobody served a repository, however that came, to the moment somebody did; one for each time. */
  readonly readyMs: readonly number[];
  /** Summed over repositories: how long each had no tenure, or one whose process was dead or stopped. */
  readonly unclaimedSeconds: number;
  /** Indexed again although it had been indexed before. */
  readonly rebuiltBytes: number;
  /** How many nodes ran, on average. */
  readonly meanNodes: number;
}

/** Listens to a run and measures it. It is no checker: nothing it finds is a violation. */
export class Measures implements Pick<Checker, "hears" | "on"> {
  readonly hears: readonly SimEvent["kind"][] = ["store-changed", "decision", "memory", "second"];
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
        this.#begun ||= this.#scene.ledger.views.has(this.#scene.service.name);
        return;
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

  #ready(replica: ReplicaKey): void {
    const since = this.#unreadySince.get(replica);
    if (since === undefined) return;
    this.#unreadySince.delete(replica);
    this.#readyMs.push(this.#scene.now() - since);
  }

  /** A second is fine enough: what is not served for less is a planned move. */
  #second(): void {
    this.#seconds++;
    const running = new Map(this.#scene.nodes.filter(({ up }) => up).map((node) => [node.name, node]));
    this.#nodeSeconds += running.size;
    if (!this.#begun) return;
    const { ledger, service } = this.#scene;
    for (const replica of service.replicas) {
      const holder = running.get(ledger.tenures.get(replica)?.value.node ?? "");
      if (!holder || holder.paused) this.#unclaimedSeconds++;
      if (holder && !holder.paused && holder.check(replica)) this.#ready(replica);
      else if (!this.#unreadySince.has(replica)) this.#unreadySince.set(replica, this.#scene.now());
    }
  }
}

/** The value that a share of the sorted list does not exceed; 0 for none. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
