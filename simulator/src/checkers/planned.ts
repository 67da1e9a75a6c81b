import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/** Promise 4: a planned move fails no request. Only for scenarios in which nothing but planned operations happens. */
export class PlannedChecker implements Checker {
  readonly name = "planned";
  readonly hears = ["request-failed", "node"] as const;
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    if (event.kind === "request-failed")
      this.#scene.report(
        this.name,
        event.shard,
        `a ${event.mode} of ${event.client} failed: ${event.reason}`,
      );
    if (event.kind === "node" && (event.how === "crash" || event.how === "refused-to-start"))
      this.#scene.report(this.name, event.node, `${event.how}: this was not planned`);
  }
}
