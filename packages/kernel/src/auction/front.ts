import type { ReplicaKey } from "../identity/keys.ts";
import type { Lot } from "./lots.ts";
import type { Market } from "./market.ts";

/** So many lots at a time that were not asked for often enough to be demanded, and so many that were. */
export const FRONT_MAX = 64;

/**
 * Of the lots that nobody bids on, those that get rounds: the first in the order that all compute alike, so that bidders meet there. A round costs a pass of every bidder; if twenty thousand
 * lots that fit nowhere had theirs at once, nodes would do nothing else. The others are not forgotten: a bid on any of them is answered at once, and they move up as those before them
 * are demanded or held.
 */
export class Front {
  readonly #market: Market;
  #replicas = new Set<ReplicaKey>();

  constructor(market: Market) {
    this.#market = market;
  }

  has(replica: ReplicaKey): boolean {
    return this.#market.lots.size <= FRONT_MAX || this.#replicas.has(replica);
  }

  /** Looks who is in front from now on until it is called again, and returns those that were not before. */
  refresh(until: number): ReplicaKey[] {
    const before = this.#replicas;
    const { lots, board, terms } = this.#market;
    const now = new Set<ReplicaKey>();
    const isDemanded = ({ replica }: Lot): boolean =>
      (board.rounds.get(replica)?.value.empties ?? 0) >= terms.emptiesMax;
    let [fresh, demanded] = [0, 0];
    // Also when all are in front: those that were behind before nobody has looked at since.
    for (const lot of lots.ordered()) {
      // It would only keep others waiting that may be asked for.
      if (until < lot.at) continue;
      if (isDemanded(lot) ? demanded++ < FRONT_MAX : fresh++ < FRONT_MAX) now.add(lot.replica);
      if (fresh >= FRONT_MAX && demanded >= FRONT_MAX) break;
    }
    this.#replicas = now;
    return [...now].filter((replica) => !before.has(replica));
  }
}
