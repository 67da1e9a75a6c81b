import { NO_EPOCH, compareEpochs, formatEpoch, type Epoch } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/** Invariant 2: a fenced resource never accepts a write with an epoch lower than one it has seen. The checker keeps its own account of what each resource saw. */
export class StaleEpochChecker implements Checker {
  readonly name = "stale-epoch";
  readonly hears = ["raised", "wrote"] as const;
  readonly #scene: Scene;
  readonly #highest = new Map<string, Epoch>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    if (event.kind !== "raised" && event.kind !== "wrote") return;
    const { resource, epoch } = event;
    const highest = this.#highest.get(resource) ?? NO_EPOCH;
    if (epoch === highest) return;
    if (compareEpochs(epoch, highest) >= 0) this.#highest.set(resource, epoch);
    else if (event.kind === "wrote")
      this.#scene.report(
        this.name,
        resource,
        `accepted a write under ${formatEpoch(epoch)} after it had seen ${formatEpoch(highest)}`,
      );
  }
}
