import type { ReplicaKey } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

interface Work {
  /** Requests that were admitted and have not ended. */
  count: number;
  /** When the node first decided to drain since it last admitted anything, in true time. */
  drainingSince: number | undefined;
}

/** A planned move waits for what is in flight: no hand-over is carried out while the holder still works on requests for the replica, unless it has waited as long as a drain may take. */
export class DrainedChecker implements Checker {
  readonly name = "drained";
  readonly hears = ["admitted", "finished", "node", "decision", "store-changed"] as const;
  readonly #scene: Scene;
  /** By node, then by replica. */
  readonly #work = new Map<string, Map<ReplicaKey, Work>>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    switch (event.kind) {
      case "admitted": {
        const work = this.#of(event.node, event.replica);
        work.count++;
        work.drainingSince = undefined;
        return;
      }
      case "finished":
        this.#of(event.node, event.replica).count--;
        return;
      case "node":
        this.#work.delete(event.node);
        return;
      case "decision":
        if (event.decision.kind === "draining" && event.decision.replica !== undefined)
          this.#of(event.node, event.decision.replica).drainingSince ??= this.#scene.now();
        return;
      case "store-changed":
        for (const change of event.batch.changes) if (change.kind === "put") this.#put(change.entry.key);
        return;
      default:
    }
  }

  #put(key: string): void {
    const { ledger, terms, driftMax } = this.#scene;
    const parsed = ledger.keys.parse(key);
    if (parsed?.kind !== "tenure") return;
    const tenure = ledger.tenures.get(parsed.rest)?.value;
    if (tenure?.how !== "hand-over" || tenure.from === undefined) return;
    const work = this.#work.get(tenure.from)?.get(parsed.rest);
    if (!work || work.count <= 0) return;
    const waitedMs = work.drainingSince === undefined ? 0 : this.#scene.now() - work.drainingSince;
    if (waitedMs >= terms.drainMs * (1 - driftMax)) return;
    this.#scene.report(
      this.name,
      parsed.rest,
      `${tenure.from} handed it to ${tenure.node} with ${work.count} requests in flight`,
    );
  }

  #of(node: string, replica: ReplicaKey): Work {
    let ofNode = this.#work.get(node);
    if (!ofNode) this.#work.set(node, (ofNode = new Map<ReplicaKey, Work>()));
    let work = ofNode.get(replica);
    if (!work) ofNode.set(replica, (work = { count: 0, drainingSince: undefined }));
    return work;
  }
}
