import type { ViewMember } from "../membership/view.ts";
import { hash } from "./hash.ts";

/** A single node takes at most this many tokens, whatever its weight: beyond it a share no longer gets more exact. */
const tokensPerNodeMax = 10_000;

/**
 * The circle that shards are placed on: each member owns tokens, in number as its weight, at places that depend only on its own id.
 * So a node that comes or goes, or changes weight, leaves all other tokens where they are. It knows nothing of shards or loads.
 */
export class TokenRing {
  /** Rising. */
  readonly tokens: Float64Array;
  /** For each token, the index of its member. */
  readonly owners: Uint32Array;

  constructor(members: readonly ViewMember[], vnodes: number) {
    const counts = members.map((member) => tokenCount(member.weight, vnodes));
    const size = counts.reduce((sum, count) => sum + count, 0);
    const values = new Float64Array(size);
    const owner = new Uint32Array(size);
    let at = 0;
    for (const [index, member] of members.entries()) {
      const count = counts[index] ?? 0;
      for (let i = 0; i < count; i++, at++) {
        values[at] = hash(member.node, i);
        owner[at] = index;
      }
    }
    const order = new Uint32Array(size);
    for (let i = 0; i < size; i++) order[i] = i;
    // Two equal tokens lie in the order of their members, which is the order of node ids.
    order.sort((x, y) => (values[x] as number) - (values[y] as number) || x - y);
    this.tokens = Float64Array.from(order, (i) => values[i] as number);
    this.owners = Uint32Array.from(order, (i) => owner[i] as number);
  }

  get size(): number {
    return this.tokens.length;
  }

  /** The index of the first token at or after `place`, going round. Requires a ring that is not empty. */
  at(place: number): number {
    const { tokens } = this;
    let low = 0;
    let high = tokens.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((tokens[middle] as number) < place) low = middle + 1;
      else high = middle;
    }
    return low === tokens.length ? 0 : low;
  }
}

/** Weight 0 owns nothing; any other weight owns at least one token. */
function tokenCount(weight: number, vnodes: number): number {
  if (!(weight > 0)) return 0;
  return Math.min(tokensPerNodeMax, Math.max(1, Math.round(weight * vnodes)));
}
