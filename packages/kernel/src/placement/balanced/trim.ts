import { NOWHERE, type Draft } from "./draft.ts";
import { easeMin, helps, strainOfAll } from "./gain.ts";
import type { Why } from "./proposal.ts";
import { crowded } from "./spread.ts";
import { Traffic } from "./traffic.ts";

/** A move that begins now, or, with `waitsFor`, one that does not. */
export interface Trimmed {
  readonly index: number;
  /** Index of the node. */
  readonly to: number;
  readonly why: Why;
  readonly waitsFor?: string;
}

/** What is let through first. What has no holder does not queue at all. */
const order: readonly Why[] = ["draining", "pinned", "displaced", "zones", "peak", "swap", "floor"];
/** One move can wait for another to be let through; what is left after so many passes waits for the next round. */
const passesMax = 8;
const notAlone = "other moves, without which it would not help";

/**
 * The last phase: decides which of the draft's moves begin now, and puts all others back. What has no holder must be placed now; the rest is let
 * through in the order of its urgency, as far as caps and the churn budget allow, only where it can be done at once (into room that is
 * free now, not into room that another move will make), and only if it helps even when nothing else follows.
 */
export function trim(draft: Draft): Trimmed[] {
  const pass = new Trim(draft);
  pass.beginUrgent();
  pass.beginPlanned();
  return pass.trimmed();
}

class Trim {
  readonly #draft: Draft;
  readonly #traffic: Traffic;
  /** Where every replica should end. */
  readonly #goal: Int32Array;
  readonly #urgent: number[] = [];
  readonly #planned: number[] = [];
  readonly #begun: Uint8Array;
  /** How many replicas begin to move to each node. */
  readonly #arrivals: Int32Array;
  /** The exchange that each replica is part of. */
  readonly #exchanges = new Map<number, Draft["exchanges"][number]>();
  readonly #waits = new Map<number, string>();

  constructor(draft: Draft) {
    const { fleet, home } = draft;
    this.#draft = draft;
    this.#goal = draft.at.slice();
    this.#begun = new Uint8Array(fleet.count);
    this.#arrivals = new Int32Array(fleet.nodes);
    for (let index = 0; index < fleet.count; index++) {
      const goal = this.#goal[index]!;
      if (goal === home[index]) draft.why[index] = "stays";
      else if (home[index] === NOWHERE) this.#urgent.push(index);
      else if (goal !== NOWHERE) this.#planned.push(index);
    }
    for (const index of this.#planned) draft.put(index, home[index]!);
    for (const exchange of draft.exchanges)
      for (const index of [exchange.head, ...exchange.rest]) this.#exchanges.set(index, exchange);
    this.#traffic = new Traffic(draft);
  }

  /** What has no holder goes where it should, and who is in its way there makes way now, whatever the caps say. */
  beginUrgent(): void {
    const draft = this.#draft;
    for (const index of this.#urgent) this.#begin(index);
    // Making way can crowd the next node, but the draft as a whole has no node over its capacity that got something, so this ends.
    for (let crowd = draft.fleet.hard; crowd;) {
      crowd = false;
      for (const index of this.#planned) {
        const from = draft.home[index]!;
        if (this.#begun[index] === 1 || this.#arrivals[from] === 0 || !draft.overfull(from)) continue;
        draft.why[index] = "displaced";
        this.#begin(index);
        crowd = true;
      }
    }
  }

  beginPlanned(): void {
    const queue = this.#planned.filter((index) => this.#begun[index] === 0).sort(this.#byUrgency());
    for (let pass = 0, going = true; going && pass < passesMax; pass++) {
      going = false;
      for (const index of queue) {
        if (this.#begun[index] === 1) continue;
        const exchange = this.#exchanges.get(index);
        const obstacle = this.#alone(index);
        if (obstacle === undefined) {
          this.#begin(index);
          going = true;
        } else if (exchange && this.#together(exchange)) going = true;
        else this.#waits.set(index, obstacle);
      }
    }
    this.#allTogether(queue);
  }

  trimmed(): Trimmed[] {
    const { why } = this.#draft;
    return [...this.#urgent, ...this.#planned].map((index) => {
      const move = { index, to: this.#goal[index]!, why: why[index]! };
      if (this.#begun[index] === 1) return move;
      why[index] = "stays";
      return { ...move, waitsFor: this.#waits.get(index) ?? "the next round" };
    });
  }

  /** Why a planned move cannot begin now, or should not begin alone. */
  #alone(index: number): string | undefined {
    const draft = this.#draft;
    const to = this.#goal[index]!;
    const exceeded = this.#traffic.exceeded(index, to);
    if (exceeded !== undefined) return exceeded;
    const good =
      draft.why[index] === "zones"
        ? crowded(draft, index)
        : !this.#traffic.isForBalance(index) || helps(draft, index, draft.home[index]!, to);
    return good ? this.#traffic.blocked(index, to) : notAlone;
  }

  /** Begins an exchange, or as much of it as the limits allow, if that helps. Siblings that exchange their nodes do so whatever it does to heights. */
  #together({ head, rest }: Draft["exchanges"][number]): boolean {
    const draft = this.#draft;
    const from = draft.home[head]!;
    const to = this.#goal[head]!;
    const back = rest.filter((index) => draft.home[index] === to && this.#goal[index] === from);
    if (from === to || this.#begun[head] === 1 || back.length === 0) return false;
    const siblings = draft.shardOf(head) === draft.shardOf(back[0]!);
    const before = strainOfAll(draft);
    return this.#tryAll([head, ...back], siblings, (moved) =>
      siblings ? moved.length === 2 : moved[0] === head && strainOfAll(draft) <= before - easeMin,
    );
  }

  /** Begins all that helps only together, if the limits allow all of it. */
  #allTogether(queue: readonly number[]): void {
    const left = queue.filter((index) => this.#begun[index] === 0 && this.#waits.get(index) === notAlone);
    const before = strainOfAll(this.#draft);
    this.#tryAll(
      left,
      false,
      (moved) => moved.length === left.length && strainOfAll(this.#draft) <= before - easeMin,
    );
  }

  /** Makes as many of the moves as the limits allow, and begins them if the outcome is good; otherwise nothing has changed. */
  #tryAll(
    indices: readonly number[],
    siblings: boolean,
    good: (moved: readonly number[]) => boolean,
  ): boolean {
    const draft = this.#draft;
    const moved: number[] = [];
    for (const index of indices) {
      const goal = this.#goal[index]!;
      if (this.#begun[index] === 1 || this.#traffic.exceeded(index, goal) !== undefined) continue;
      if (!siblings && this.#traffic.blocked(index, goal) !== undefined) continue;
      draft.put(index, goal);
      this.#traffic.add(index, goal);
      moved.push(index);
    }
    const begins = moved.length > 0 && good(moved);
    for (const index of moved) {
      this.#traffic.remove(index, this.#goal[index]!);
      draft.put(index, draft.home[index]!);
    }
    if (begins) for (const index of moved) this.#begin(index);
    return begins;
  }

  #begin(index: number): void {
    const draft = this.#draft;
    const to = this.#goal[index]!;
    if (this.#begun[index] === 1) return;
    this.#begun[index] = 1;
    this.#arrivals[to] = this.#arrivals[to]! + 1;
    draft.put(index, to);
    this.#traffic.add(index, to);
    const first = index - (index % draft.fleet.replicas);
    for (let sibling = first; sibling < first + draft.fleet.replicas; sibling++) {
      if (sibling === index || draft.at[sibling] !== to) continue;
      draft.why[sibling] = "displaced";
      this.#begin(sibling);
    }
  }

  /** By kind, then from the highest node, then what lowers it most for its cost. */
  #byUrgency(): (a: number, b: number) => number {
    const { home, fleet } = this.#draft;
    const why = [...this.#draft.why];
    const heights = this.#draft.height.slice();
    const value = (index: number): number => fleet.weights[index * fleet.dimensions]! / fleet.costs[index]!;
    return (a, b) =>
      order.indexOf(why[a]!) - order.indexOf(why[b]!) ||
      heights[home[b]!]! - heights[home[a]!]! ||
      value(b) - value(a) ||
      a - b;
  }
}
