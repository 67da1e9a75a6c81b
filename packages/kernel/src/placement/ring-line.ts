import type { ViewMember } from "../membership/view.ts";
import { HASH_SPAN } from "./hash.ts";
import type { PlanLine } from "./plan.ts";

/** What all lines of one plan share. */
export interface RingScene {
  readonly members: readonly ViewMember[];
  /** The most replicas each member may have; Infinity without a bound. */
  readonly caps: readonly number[];
}

/** What a slot's walk met before its target: the first member passed over for each rule, or −1. */
export interface RingWalk {
  readonly place: number;
  readonly taken: number;
  readonly zone: number;
  readonly full: number;
}

/** A line of a `ring/1` plan. Its reason is put into words only when someone asks. */
export class RingLine implements PlanLine {
  readonly candidates: readonly string[];
  readonly #scene: RingScene;
  readonly #walk: RingWalk;

  constructor(scene: RingScene, candidates: readonly string[], walk: RingWalk) {
    this.candidates = candidates;
    this.#scene = scene;
    this.#walk = walk;
  }

  get reason(): string {
    const { place, taken, zone, full } = this.#walk;
    const passed: string[] = [];
    if (taken >= 0) passed.push(`${this.#name(taken)} holds another replica of this shard`);
    if (zone >= 0)
      passed.push(`zone ${this.#scene.members[zone]?.zone} of ${this.#name(zone)} is for another replica`);
    if (full >= 0) passed.push(`bounded: ${this.#name(full)} is full (${this.#scene.caps[full]})`);
    const after = `on the ring after token ${formatToken(place)}`;
    return passed.length === 0 ? `first ${after}` : `next ${after}; ${passed.join("; ")}`;
  }

  #name(member: number): string {
    return this.#scene.members[member]?.node ?? "?";
  }
}

/** A place on the ring as a percentage of the way round, which people can compare. */
function formatToken(place: number): string {
  return `${((place / HASH_SPAN) * 100).toFixed(4)} %`;
}
