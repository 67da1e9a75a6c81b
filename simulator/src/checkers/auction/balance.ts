import { imbalance, type Load } from "@keelson/kernel";
import type { SimEvent } from "../../events.ts";
import type { Checker, Scene } from "../checker.ts";

/** Whenever the fleet has settled, no node uses much more memory than its part: what it would use if free memory were level. */
export class BalanceChecker implements Checker {
  readonly name = "balance";
  readonly hears: readonly SimEvent["kind"][];
  readonly #scene: Scene;
  readonly imbalances: number[] = [];

  constructor(scene: Scene) {
    this.#scene = scene;
    // Claims go to whoever is first, and nobody levels them.
    this.hears = scene.auction && scene.service.placement.kind === "auction" ? ["settled"] : [];
  }

  on(event: SimEvent): void {
    const { auction, nodes } = this.#scene;
    if (event.kind !== "settled" || !auction) return;
    const loads: Load[] = nodes
      .filter(({ up }) => up)
      .map(({ name }) => ({
        node: name,
        budgetBytes: auction.budgetBytes(name),
        usedBytes: auction.usedBytes(name),
      }));
    const found = imbalance(loads);
    this.imbalances.push(found);
    if (found < imbalanceMax) return;
    const shares = loads.map(
      ({ node, usedBytes, budgetBytes }) => `${node} ${Math.round((100 * usedBytes) / budgetBytes)} %`,
    );
    this.#scene.report(
      this.name,
      this.#scene.service.name,
      `a node uses ${(100 * found).toFixed(1)} % of the average more than its part (${shares.join(", ")})`,
    );
  }
}

const imbalanceMax = 0.1;
