import type { View } from "../../membership/view.ts";
import { hash } from "../hash.ts";
import { TokenRing } from "../token-ring.ts";
import type { ChunkLine } from "./plan-chunk.ts";

/** A target and up to three that take over, in order. */
const candidatesMax = 4;
/** Evenness of who takes over matters little, and the ring is built at every view. */
const vnodes = 16;
/** How far to look for somebody in another zone than the shard's other replicas. */
const stepsMax = 64;

const NOBODY = -1;

/**
 * Who stands in line for the replicas of a stored plan, under one view. A target that is not in the view does not count. Its replica goes back to the node that
 * it was moving away from, if the move is young, and otherwise on along a ring of the members, past nodes and zones of the shard's other
 * replicas. So does a replica that the stored plan does not know yet.
 */
export class Successors {
  readonly #viewN: number;
  readonly #names: readonly string[];
  readonly #indices: ReadonlyMap<string, number>;
  readonly #zoneOf: Int32Array;
  readonly #ring: TokenRing;
  /** For each token, the member's index in the view. */
  readonly #owners: Int32Array;

  constructor(view: View) {
    this.#viewN = view.n;
    this.#names = view.members.map(({ node }) => node);
    this.#indices = new Map(this.#names.map((node, index) => [node, index]));
    const zones = [...new Set(view.members.map(({ zone }) => zone))];
    const zoneIndex = new Map(zones.map((zone, index) => [zone, index]));
    this.#zoneOf = Int32Array.from(view.members, ({ zone }) => zoneIndex.get(zone)!);
    const able = view.members.filter((member) => member.weight > 0);
    this.#ring = new TokenRing(able, vnodes);
    this.#owners = Int32Array.from(this.#ring.owners, (owner) => this.#indices.get(able[owner]!.node)!);
  }

  /** The candidates of each replica of a shard. The first ones are distinct nodes. */
  of(shard: string, stored: readonly ChunkLine[], replicas: number): string[][] {
    const firsts: number[] = [];
    for (let replica = 0; replica < replicas; replica++) firsts.push(this.#indexOf(stored[replica]?.to));
    const inLine: string[][] = [];
    for (let replica = 0; replica < replicas; replica++) {
      const line: number[] = [];
      if (firsts[replica] !== NOBODY) line.push(firsts[replica]!);
      const back = this.#back(stored[replica]);
      if (back !== NOBODY && !firsts.includes(back)) line.push(back);
      this.#walk(hash(shard, replica), firsts, replica, line);
      if (line.length > 0) firsts[replica] = line[0]!;
      inLine.push(line.map((index) => this.#names[index]!));
    }
    return inLine;
  }

  #indexOf(node: string | undefined): number {
    return node === undefined ? NOBODY : (this.#indices.get(node) ?? NOBODY);
  }

  /** The node that the replica was moving away from, as long as that may not have ended: this view or the one before chose the target. */
  #back(stored: ChunkLine | undefined): number {
    return stored && stored.viewN >= this.#viewN - 1 ? this.#indexOf(stored.from) : NOBODY;
  }

  /** Adds those that come next on the ring, those first from zones where no other replica is. */
  #walk(place: number, firsts: readonly number[], replica: number, line: number[]): void {
    const size = this.#owners.length;
    if (size === 0) return;
    const second: number[] = [];
    let at = this.#ring.at(place);
    for (let step = 0; step < Math.min(size, stepsMax) && line.length < candidatesMax; step++) {
      const index = this.#owners[at]!;
      at = at + 1 === size ? 0 : at + 1;
      if (firsts.includes(index) || line.includes(index) || second.includes(index)) continue;
      if (this.#shared(index, firsts, replica)) second.push(index);
      else line.push(index);
    }
    for (const index of second) if (line.length < candidatesMax) line.push(index);
  }

  /** Whether another replica of the shard is in the member's zone. */
  #shared(index: number, firsts: readonly number[], replica: number): boolean {
    for (const [other, first] of firsts.entries())
      if (other !== replica && first !== NOBODY && this.#zoneOf[first] === this.#zoneOf[index]) return true;
    return false;
  }
}
