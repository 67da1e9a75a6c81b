import type { SimEvent } from "../../events.ts";
import type { Scene } from "../checker.ts";

/** Since when a node, or the store, has had nothing wrong: for checkers that ask only what a healthy process must do. */
export class Health {
  static readonly hears: readonly SimEvent["kind"][] = ["fault", "node", "store-down", "store-recovered"];
  readonly #scene: Scene;
  /** Faults under way, by node; those of no node in particular under "". */
  readonly #ill = new Map<string, Set<number>>();
  readonly #changedAt = new Map<string, number>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  on(event: SimEvent): void {
    const now = this.#scene.now();
    if (event.kind === "fault") {
      const name = event.fault.node ?? "";
      const faults = this.#ill.get(name) ?? new Set();
      this.#ill.set(name, faults);
      if (event.edge === "begin") faults.add(event.fault.id);
      else faults.delete(event.fault.id);
      this.#changedAt.set(name, now);
    } else if (event.kind === "node") this.#changedAt.set(event.node, now);
    else if (event.kind === "store-down" || event.kind === "store-recovered") this.#changedAt.set("", now);
  }

  /** How long the node and the store have been well; 0 while they are not. */
  wellForMs(name: string): number {
    const node = this.#scene.nodes.find((each) => each.name === name);
    if (!node?.up || node.paused || (this.#ill.get(name)?.size ?? 0) > 0) return 0;
    return Math.min(this.storeWellForMs(), this.#scene.now() - (this.#changedAt.get(name) ?? 0));
  }

  storeWellForMs(): number {
    if ((this.#ill.get("")?.size ?? 0) > 0) return 0;
    return this.#scene.now() - (this.#changedAt.get("") ?? 0);
  }
}
