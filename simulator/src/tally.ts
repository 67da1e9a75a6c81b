import type { DecisionKind } from "@keelson/kernel";
import type { SimEvent } from "./events.ts";

/** Counts for the summary of a run. */
export class Tally {
  readonly decisions = new Map<DecisionKind, number>();
  starts = 0;
  settled = 0;
  storeChanges = 0;

  count(event: SimEvent): void {
    switch (event.kind) {
      case "decision":
        this.decisions.set(event.decision.kind, (this.decisions.get(event.decision.kind) ?? 0) + 1);
        return;
      case "node":
        if (event.how === "start") this.starts++;
        return;
      case "settled":
        this.settled++;
        return;
      case "store-changed":
        this.storeChanges++;
        return;
      default:
    }
  }

  of(kind: DecisionKind): number {
    return this.decisions.get(kind) ?? 0;
  }
}
