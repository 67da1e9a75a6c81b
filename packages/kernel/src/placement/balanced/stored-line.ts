import type { PlanLine } from "../plan.ts";
import type { ChunkLine } from "./plan-chunk.ts";

/** A line of a stored plan. Its reason is put into words only when someone asks. */
export class StoredLine implements PlanLine {
  readonly candidates: readonly string[];
  readonly #viewN: number;
  readonly #stored: ChunkLine | undefined;

  constructor(viewN: number, candidates: readonly string[], stored: ChunkLine | undefined) {
    this.#viewN = viewN;
    this.candidates = candidates;
    this.#stored = stored;
  }

  /** The manager has not decided since the target went, or has not decided at all. */
  get interim(): boolean {
    return this.#stored?.to === undefined || this.#stored.to !== this.candidates[0];
  }

  get reason(): string {
    const stored = this.#stored;
    if (this.candidates.length === 0) return "no member of the view can hold it: start a node";
    if (!stored) return "not in the stored plan yet: first in line on the ring";
    if (stored.to === undefined)
      return "nobody could hold it when the plan was made: first in line on the ring";
    if (stored.to !== this.candidates[0])
      return `${stored.to}, its target, is not in view ${this.#viewN}: next in line until the manager has planned again`;
    return `${reasonOf(stored)} (view ${stored.viewN})`;
  }
}

function reasonOf({ why, from }: ChunkLine): string {
  const came = from === undefined ? "" : `, from ${from}`;
  switch (why) {
    case "stays":
      return "it was here when the plan was first made";
    case "new":
      return "placed when nobody held it";
    case "lost":
      return "its node was lost or left";
    case "draining":
      return `its node was draining${came}`;
    case "pinned":
      return `pinned here by an operator${came}`;
    case "displaced":
      return `made way for a replica that had to be where it was${came}`;
    case "zones":
      return `moved to spread the shard over zones${came}`;
    case "peak":
      return `moved to lower a node above its ceiling${came}`;
    case "floor":
      return `moved to fill a node below its floor${came}`;
    case "swap":
      return `exchanged to even out two nodes${came}`;
  }
}
