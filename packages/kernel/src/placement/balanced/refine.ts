import { hash } from "../hash.ts";
import { choose } from "./choose.ts";
import { NOWHERE, type Draft } from "./draft.ts";

/** A fleet this even needs no refining; large ones are, once the heaviest replicas were placed first. */
const evenEnough = 1.005;
/** Heights compared in one call: so many for each replica and node, and in all. Bounds the CPU time to some milliseconds. */
const comparisonsPerPlace = 300;
const comparisonsMax = 40_000;
/** How many shards a kick takes off their nodes. */
const kickMax = 4;
/** One try in so many goes on from where the last one ended instead of from the best. */
const wanderEvery = 8;

/**
 * Improves the choice for replicas that nobody holds, which may be moved at no cost while the plan is made. From the highest node it makes
 * moves and exchanges until none lowers it, then kicks a few shards elsewhere and tries again; the best draft found stays. Matters for
 * few, heavy shards. The kicks follow from the view's number, so that a plan is the same wherever it is computed.
 */
export function refine(draft: Draft): void {
  new Refinement(draft).run();
}

class Refinement {
  readonly #draft: Draft;
  readonly #free: Uint8Array;
  readonly #freeList: number[] = [];
  readonly #goal: number;
  #comparisonsLeft: number;
  #rolls = 0;

  constructor(draft: Draft) {
    const { fleet, home, at, fixed } = draft;
    this.#draft = draft;
    this.#free = new Uint8Array(fleet.count);
    for (let index = 0; index < fleet.count; index++) {
      if (home[index] !== NOWHERE || at[index] === NOWHERE || fixed[index] === 1) continue;
      this.#free[index] = 1;
      this.#freeList.push(index);
    }
    this.#goal = Math.max(evenEnough, this.#heaviest() * 1.001);
    const places = this.#freeList.length * fleet.openCount;
    this.#comparisonsLeft = Math.min(comparisonsMax, places * comparisonsPerPlace);
  }

  run(): void {
    if (this.#freeList.length === 0) return;
    let places = this.#draft.at.slice();
    let best = this.#peak();
    for (let tries = 0; best > this.#goal && this.#comparisonsLeft > 0; tries++) {
      if (tries > 0) this.#kick(places);
      while (this.#improve());
      const peak = this.#peak();
      if (peak < best) {
        best = peak;
        places = this.#draft.at.slice();
      } else if (tries % wanderEvery !== 0) this.#restore(places);
    }
    this.#restore(places);
  }

  #restore(places: Int32Array): void {
    for (const index of this.#freeList)
      if (this.#draft.at[index] !== places[index]) this.#draft.put(index, places[index]!);
  }

  /** No plan has a lower peak than the heaviest free replica makes on the node that suits it best. */
  #heaviest(): number {
    const { dimensions, weights, scale, nodes, open } = this.#draft.fleet;
    let heaviest = 0;
    for (let d = 0; d < dimensions; d++) {
      let least = Infinity;
      for (let node = 0; node < nodes; node++)
        if (open[node] === 1) least = Math.min(least, scale[node * dimensions + d]!);
      for (const index of this.#freeList)
        heaviest = Math.max(heaviest, weights[index * dimensions + d]! * least);
    }
    return heaviest;
  }

  #peak(): number {
    let peak = 0;
    for (const height of this.#draft.height) peak = Math.max(peak, height);
    return peak;
  }

  /** Makes the first move or exchange found that lowers the highest node, the other node staying below it too. */
  #improve(): boolean {
    const draft = this.#draft;
    const order = draft.byHeight();
    const upper = order[order.length - 1]!;
    const there = draft.on[upper]!;
    const peak = draft.height[upper]! - 1e-9;
    const start = this.#roll(there.length);
    for (let i = 0; i < there.length && this.#comparisonsLeft > 0; i++) {
      const heavy = there[(start + i) % there.length]!;
      if (this.#free[heavy] === 0) continue;
      const lower = draft.heightWith(upper, NOWHERE, heavy) < peak;
      for (const under of order) {
        if (under === upper) break;
        draft.ask(heavy);
        if (!draft.apart(under) || !draft.inZone(under)) continue;
        this.#comparisonsLeft -= 1;
        const fits = draft.heightWith(under, heavy, NOWHERE) < peak && draft.fits(heavy, under, NOWHERE);
        const light = lower && fits ? NOWHERE : this.#lighter(upper, under, heavy, peak);
        if (light === NOWHERE && !(lower && fits)) continue;
        draft.put(heavy, under);
        if (light !== NOWHERE) draft.put(light, upper);
        return true;
      }
    }
    return false;
  }

  /** A replica of the lower node that can be exchanged for the heavy one, so that both nodes stand below the peak. */
  #lighter(upper: number, under: number, heavy: number, peak: number): number {
    const draft = this.#draft;
    for (const light of draft.on[under]!) {
      if (this.#free[light] === 0 || draft.shardOf(light) === draft.shardOf(heavy)) continue;
      this.#comparisonsLeft -= 1;
      if (draft.heightWith(upper, light, heavy) >= peak || draft.heightWith(under, heavy, light) >= peak)
        continue;
      if (!draft.fits(heavy, under, light) || !draft.fits(light, upper, heavy)) continue;
      draft.ask(light);
      if (draft.apart(upper) && draft.inZone(upper)) return light;
    }
    return NOWHERE;
  }

  /** Takes some shards off their nodes and places them anew, in another order. What then finds no room has all of it undone. */
  #kick(places: Int32Array): void {
    const draft = this.#draft;
    const { replicas, nodes } = draft.fleet;
    const lifted: number[] = [];
    for (let times = 1 + this.#roll(kickMax); times > 0; times--) {
      const index = this.#freeList[this.#roll(this.#freeList.length)]!;
      const first = index - (index % replicas);
      for (let sibling = first; sibling < first + replicas; sibling++) {
        if (this.#free[sibling] === 0 || draft.at[sibling] === NOWHERE) continue;
        draft.lift(sibling);
        lifted.splice(this.#roll(lifted.length + 1), 0, sibling);
      }
    }
    for (const index of lifted) {
      this.#comparisonsLeft -= nodes;
      const node = choose(draft, index, true);
      if (node === NOWHERE) return this.#restore(places);
      draft.put(index, node);
    }
  }

  #roll(sides: number): number {
    return hash("roll", (this.#draft.fleet.input.viewN * 65_537 + this.#rolls++) | 0) % sides;
  }
}
