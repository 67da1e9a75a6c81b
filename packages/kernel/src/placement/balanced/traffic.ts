import { NOWHERE, type Draft } from "./draft.ts";
import type { Why } from "./proposal.ts";

const forBalance: ReadonlySet<Why> = new Set(["zones", "peak", "floor", "swap"]);

/**
 * The moves that are under way or begin in this round, and what they leave room for. Until a move has ended, its replica takes up room at both ends, and
 * a slot at each.
 */
export class Traffic {
  readonly #draft: Draft;
  /** Moves to and from each node, and in the fleet. */
  readonly #slots: Int32Array;
  #moves = 0;
  #churnMoves = 0;
  #churnCost = 0;
  /** What is on each node or on its way there, by member and dimension. */
  readonly #needs: Float64Array;

  /** Counts what is under way. Requires a draft in which every replica is at home. */
  constructor(draft: Draft) {
    const { fleet, holder, home } = draft;
    this.#draft = draft;
    this.#slots = new Int32Array(fleet.nodes);
    this.#needs = new Float64Array(fleet.nodes * fleet.dimensions);
    for (let index = 0; index < fleet.count; index++) {
      if (holder[index] !== NOWHERE) this.#occupy(index, holder[index]!, 1);
      if (home[index] === NOWHERE || home[index] === holder[index]) continue;
      this.#occupy(index, home[index]!, 1);
      if (holder[index] !== NOWHERE) this.#count(holder[index]!, home[index]!, 1);
    }
  }

  /** Which limit a planned move would exceed; undefined when none. */
  exceeded(index: number, to: number): string | undefined {
    const { fleet, home } = this.#draft;
    const { limits } = fleet.input;
    if (this.#moves >= limits.fleetMovesMax) return `the fleet's ${limits.fleetMovesMax} moves at a time`;
    for (const node of [home[index]!, to])
      if (this.#slots[node]! >= limits.nodeMovesMax)
        return `the ${limits.nodeMovesMax} moves at a time of ${fleet.members[node]!.node}`;
    if (!this.isForBalance(index)) return undefined;
    if (this.#churnMoves >= limits.churnMovesMax)
      return `the budget of ${limits.churnMovesMax} moves a round`;
    if (this.#churnCost + fleet.costs[index]! > limits.churnCostMax)
      return `the budget of ${limits.churnCostMax} for the cost of moves a round`;
    return undefined;
  }

  /** What keeps the replica from going to the node now, limits aside. */
  blocked(index: number, to: number): string | undefined {
    const draft = this.#draft;
    const { node, zone } = draft.fleet.members[to]!;
    if (!this.#room(index, to)) return `room on ${node}`;
    draft.ask(index);
    if (!draft.apart(to)) return `another replica of the shard to leave ${node}`;
    if (!draft.inZone(to) && draft.why[index] !== "draining")
      return `another replica of the shard to leave zone ${zone}`;
    return undefined;
  }

  isForBalance(index: number): boolean {
    return forBalance.has(this.#draft.why[index]!);
  }

  /** Notes a move that begins. One that has no holder takes up room, but no slot: nothing is handed over. */
  add(index: number, to: number): void {
    this.#change(index, to, 1);
  }

  /** Takes back what `add` noted. */
  remove(index: number, to: number): void {
    this.#change(index, to, -1);
  }

  #change(index: number, to: number, sign: 1 | -1): void {
    const { home, fleet } = this.#draft;
    this.#occupy(index, to, sign);
    if (home[index] === NOWHERE) return;
    this.#count(home[index]!, to, sign);
    if (!this.isForBalance(index)) return;
    this.#churnMoves += sign;
    this.#churnCost += sign * fleet.costs[index]!;
  }

  #count(from: number, to: number, sign: 1 | -1): void {
    this.#moves += sign;
    for (const node of [from, to]) this.#slots[node] = this.#slots[node]! + sign;
  }

  #occupy(index: number, node: number, sign: 1 | -1): void {
    const { dimensions, needs } = this.#draft.fleet;
    for (let d = 0; d < dimensions; d++) {
      const flat = node * dimensions + d;
      this.#needs[flat] = this.#needs[flat]! + sign * needs[index * dimensions + d]!;
    }
  }

  #room(index: number, node: number): boolean {
    const { dimensions, needs, limit } = this.#draft.fleet;
    for (let d = 0; d < dimensions; d++) {
      const flat = node * dimensions + d;
      if (this.#needs[flat]! + needs[index * dimensions + d]! > limit[flat]!) return false;
    }
    return true;
  }
}
