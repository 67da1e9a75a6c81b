import type { SimEvent } from "../events.ts";
import type { Checker, Scene } from "./checker.ts";

/**
 * No store carries out a commit that was made for another incarnation of it. The guards of such a commit name revisions of a history that is gone: in the new one the same
 * numbers stand for other writes.
 */
export class IncarnationChecker implements Checker {
  readonly name = "incarnation";
  readonly hears = ["foreign-commit"] as const;
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    if (event.kind !== "foreign-commit") return;
    const { sender, madeFor, carriedOutBy } = event;
    this.#scene.report(
      this.name,
      sender,
      `its commit for incarnation ${madeFor} was carried out by ${carriedOutBy}`,
    );
  }
}
