import { formatEpoch } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/** With one replica, a read never gives less than was acknowledged to anyone before the read was sent: the holder that answers is the only one. With more replicas, those that are not primary may lag. */
export class StaleReadChecker implements Checker {
  readonly name = "stale-read";
  readonly hears = ["answered"] as const;
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    if (event.kind !== "answered" || event.mode !== "read" || event.value >= event.floor) return;
    if (this.#scene.service.parameters.replicas > 1) return;
    this.#scene.report(
      this.name,
      event.replica,
      `${event.client} read ${event.value} under ${formatEpoch(event.epoch)}, and ${event.floor} had been acknowledged before it asked`,
    );
  }
}
