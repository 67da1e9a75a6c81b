import type { Fleet } from "./fleet.ts";
import type { Why } from "./proposal.ts";

export const NOWHERE = -1;

const mustMove: ReadonlySet<Why> = new Set(["new", "lost", "draining", "pinned", "displaced"]);

/**
 * The one proposal that all phases work on: where each replica is, and how high each node stands. It knows what is allowed and what a change does
 * to heights; what to change is for the phases. Replicas and members are named by index.
 */
export class Draft {
  readonly fleet: Fleet;
  /** Who holds each replica. */
  readonly holder: Int32Array;
  /** Where each replica is expected to be: the target of a move under way, or its holder. NOWHERE when that is lost. */
  readonly home: Int32Array;
  /** Where the draft puts it. */
  readonly at: Int32Array;
  readonly why: Why[];
  /** 1 for replicas that no phase may move for balance: pinned, or already on their way. */
  readonly fixed: Uint8Array;
  /** The node that each replica is pinned to. */
  readonly pinned: Int32Array;
  /** Moves that make sense only together: a replica, and those that its new node gives to its old one in return. */
  readonly exchanges: { readonly head: number; readonly rest: readonly number[] }[] = [];

  readonly height: Float64Array;
  /** The replicas on each node. */
  readonly on: readonly number[][];
  /** Above `ceiling` a node hands over until it is at `settled`. In a rolling restart that is higher than the band of what may come to a node; see `#emptyRoom`. */
  readonly ceiling: Float64Array;
  readonly settled: Float64Array;

  readonly #needs: Float64Array;
  readonly #loads: Float64Array;
  readonly #position: Int32Array;
  // What the replica in question may not have; see `ask`.
  readonly #taken: Uint8Array;
  readonly #zoneUse: Uint8Array;
  #asked = NOWHERE;

  constructor(fleet: Fleet) {
    const { count, nodes, dimensions, input } = fleet;
    this.fleet = fleet;
    this.holder = Int32Array.from(input.holders, (node) => fleet.indexOf(node));
    this.home = new Int32Array(count).fill(NOWHERE);
    this.at = new Int32Array(count).fill(NOWHERE);
    this.why = Array.from({ length: count }, () => "stays");
    this.fixed = new Uint8Array(count);
    this.pinned = new Int32Array(count).fill(NOWHERE);
    this.height = new Float64Array(nodes);
    this.on = Array.from({ length: nodes }, () => []);
    this.#needs = new Float64Array(nodes * dimensions);
    this.#loads = new Float64Array(nodes * dimensions);
    this.#position = new Int32Array(count);
    this.#taken = new Uint8Array(nodes);
    this.#zoneUse = new Uint8Array(fleet.zones.length);
    for (let index = 0; index < count; index++) this.#goHome(index);
    const slack = fleet.rolling ? this.#emptyRoom() : 1;
    this.ceiling = fleet.top.map((height) => height * slack);
    this.settled = fleet.settleTop.map((height) => height * slack);
  }

  shardOf(index: number): number {
    return Math.floor(index / this.fleet.replicas);
  }

  /** Whether something may move to the node just for balance: not to one that is about to be restarted. */
  welcomes(node: number): boolean {
    return !this.fleet.rolling || this.fleet.fresh[node] === 1;
  }

  /** Takes the replica from where it is, if anywhere, and puts it on the node. */
  put(index: number, node: number): void {
    if (this.at[index] !== NOWHERE) this.lift(index);
    this.at[index] = node;
    this.#position[index] = this.on[node]!.push(index) - 1;
    this.#add(node, index, 1);
  }

  /** Puts a replica somewhere else, for a reason. What it has to move for anyway stays its reason. */
  move(index: number, node: number, why: Why): void {
    this.put(index, node);
    if (!mustMove.has(this.why[index]!)) this.why[index] = why;
  }

  /** Leaves the replica nowhere. */
  lift(index: number): void {
    const node = this.at[index]!;
    const list = this.on[node]!;
    const last = list.pop()!;
    if (last !== index) {
      const position = this.#position[index]!;
      list[position] = last;
      this.#position[last] = position;
    }
    this.at[index] = NOWHERE;
    this.#add(node, index, -1);
  }

  /** Makes `allowed` and `inZone` answer for this replica, by what its siblings have. Valid until something moves. */
  ask(index: number): void {
    this.#note(this.#asked, 0);
    this.#asked = index;
    this.#note(index, 1);
  }

  /** Whether the node is open, has no other replica of the shard, and has room in every hard dimension. Zones are for `inZone`. */
  allowed(node: number): boolean {
    return this.apart(node) && this.fits(this.#asked, node, NOWHERE);
  }

  /** Whether the node is open and has no other replica of the shard. */
  apart(node: number): boolean {
    return this.fleet.open[node] === 1 && this.#taken[node] === 0;
  }

  /** Whether the zone of the node may have another replica of the shard. */
  inZone(node: number): boolean {
    return this.#zoneUse[this.fleet.zoneOf[node]!]! < this.fleet.level;
  }

  /** Whether the node has room for the replica in every hard dimension, after it gave away another one, or NOWHERE. */
  fits(index: number, node: number, gives: number): boolean {
    if (!this.fleet.hard) return true;
    const { dimensions, needs, limit } = this.fleet;
    for (let d = 0; d < dimensions; d++) {
      const flat = node * dimensions + d;
      let need = this.#needs[flat]! + needs[index * dimensions + d]!;
      if (gives !== NOWHERE) need -= needs[gives * dimensions + d]!;
      if (need > limit[flat]!) return false;
    }
    return true;
  }

  /** The node's height with the replica `gets` more and the replica `gives` less; NOWHERE for none. */
  heightWith(node: number, gets: number, gives: number): number {
    const { dimensions, weights, scale } = this.fleet;
    let highest = 0;
    for (let d = 0; d < dimensions; d++) {
      const flat = node * dimensions + d;
      let load = this.#loads[flat]!;
      if (gets !== NOWHERE) load += weights[gets * dimensions + d]!;
      if (gives !== NOWHERE) load -= weights[gives * dimensions + d]!;
      const height = load * scale[flat]!;
      if (height > highest) highest = height;
    }
    return this.fleet.hard ? Math.max(highest, this.#overHard(node, gets, gives)) : highest;
  }

  /** Whether the node has more than its hard capacity. */
  overfull(node: number): boolean {
    return this.#overHard(node, NOWHERE, NOWHERE) > 0;
  }

  /** Open nodes from the lowest to the highest. */
  byHeight(): Int32Array {
    const { open, turn, openCount, nodes } = this.fleet;
    const order = new Int32Array(openCount);
    let size = 0;
    for (let node = 0; node < nodes; node++) if (open[node] === 1) order[size++] = node;
    return order.sort((a, b) => this.height[a]! - this.height[b]! || turn[a]! - turn[b]!);
  }

  /** Finds where the replica is expected to be. Two of a shard on one node cannot be: the second has no home there, and has to move. */
  #goHome(index: number): void {
    const { open, input } = this.fleet;
    const holder = this.holder[index]!;
    const target = this.fleet.indexOf(input.targets[index]);
    const headed = target !== NOWHERE && open[target] === 1;
    if (headed && !this.#beside(index, target)) {
      this.put(index, target);
      if (holder !== NOWHERE && holder !== target) this.fixed[index] = 1;
    } else if (holder !== NOWHERE && !this.#beside(index, holder)) this.put(index, holder);
    else if (headed || holder !== NOWHERE) this.why[index] = "displaced";
    else this.why[index] = (input.holders[index] ?? input.targets[index]) === undefined ? "new" : "lost";
    this.home[index] = this.at[index]!;
  }

  #beside(index: number, node: number): boolean {
    for (let sibling = index - (index % this.fleet.replicas); sibling < index; sibling++)
      if (this.at[sibling] === node) return true;
    return false;
  }

  /** A node above its hard capacity counts as above its ceiling by as much, whatever the average is. */
  #overHard(node: number, gets: number, gives: number): number {
    const { dimensions, needs, limit } = this.fleet;
    let over = 1;
    for (let d = 0; d < dimensions; d++) {
      const flat = node * dimensions + d;
      let need = this.#needs[flat]!;
      if (gets !== NOWHERE) need += needs[gets * dimensions + d]!;
      if (gives !== NOWHERE) need -= needs[gives * dimensions + d]!;
      if (need > limit[flat]!) over = Math.max(over, need / limit[flat]!);
    }
    return over === 1 ? 0 : over * this.fleet.top[node]! * 2;
  }

  #add(node: number, index: number, sign: 1 | -1): void {
    const { dimensions, needs, weights } = this.fleet;
    // A node with nothing on it is exactly empty; otherwise rounding would pile up over many moves.
    const empty = this.on[node]!.length === 0;
    for (let d = 0; d < dimensions; d++) {
      const flat = node * dimensions + d;
      this.#needs[flat] = empty ? 0 : this.#needs[flat]! + sign * needs[index * dimensions + d]!;
      this.#loads[flat] = empty ? 0 : this.#loads[flat]! + sign * weights[index * dimensions + d]!;
    }
    this.height[node] = this.heightWith(node, NOWHERE, NOWHERE);
  }

  #note(index: number, value: 0 | 1): void {
    if (index === NOWHERE) return;
    if (value === 0) {
      this.#taken.fill(0);
      this.#zoneUse.fill(0);
      return;
    }
    const first = index - (index % this.fleet.replicas);
    for (let sibling = first; sibling < first + this.fleet.replicas; sibling++) {
      const node = this.at[sibling]!;
      if (sibling === index || node === NOWHERE) continue;
      this.#taken[node] = 1;
      const zone = this.fleet.zoneOf[node]!;
      this.#zoneUse[zone] = this.#zoneUse[zone]! + 1;
    }
  }

  /** How much higher nodes must stand while fresh ones keep room for what those that are still to be restarted will hand over. */
  #emptyRoom(): number {
    const { nodes, open, fresh, members } = this.fleet;
    let all = 0;
    let filled = 0;
    for (let node = 0; node < nodes; node++) {
      if (open[node] === 0) continue;
      const capacity = members[node]!.capacity[0]!;
      all += capacity;
      filled += capacity * (fresh[node] === 1 ? Math.min(1, this.height[node]!) : 1);
    }
    return filled > 0 ? all / filled : 1;
  }
}
