import { compareEpochs, formatEpoch } from "@keelson/kernel";
import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/** Every accepted write adds one to what was there, so a write that did not know of its predecessor shows; and what a client was told is written is in the resource, under the epoch it was told. */
export class LostUpdateChecker implements Checker {
  readonly name = "lost-update";
  readonly hears = ["wrote", "answered"] as const;
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    if (event.kind === "wrote" && event.value !== event.previous + 1) {
      this.#scene.report(
        this.name,
        event.resource,
        `${event.previous} was overwritten with ${event.value} under ${formatEpoch(event.epoch)}: its writer did not know of the last ${event.previous - event.value + 1} writes`,
      );
    }
    if (event.kind === "answered" && event.mode === "write") {
      const name = this.#scene.service.parameters.primary === true ? event.shard : event.replica;
      const accepted = this.#scene.resources.get(name).acceptedUnder(event.value);
      if (accepted === undefined || compareEpochs(accepted, event.epoch) !== 0)
        this.#scene.report(
          this.name,
          name,
          `${event.client} was told that ${event.value} is written under ${formatEpoch(event.epoch)}; the resource has it ${accepted ? `under ${formatEpoch(accepted)}` : "not at all"}`,
        );
    }
  }
}
