import type { SimEvent } from "../../events.ts";
import type { Checker, Scene } from "../checker.ts";

/** No node ever indexes more into memory than its budget. */
export class MemoryChecker implements Checker {
  readonly name = "memory";
  readonly hears: readonly SimEvent["kind"][] = ["memory"];
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    if (event.kind !== "memory" || event.what === "freed" || event.usedBytes <= event.budgetBytes) return;
    this.#scene.report(
      this.name,
      event.node,
      `${event.replica} makes it use ${event.usedBytes} bytes of ${event.budgetBytes}`,
    );
  }
}
