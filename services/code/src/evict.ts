/**
 * Which repositories of a node make room for another. Pure. What is pinned stays; what was asked for lately, or came lately, stays: so a fleet whose memory is
 * smaller than its repositories comes to rest with the wanted ones in memory, instead of passing all of them round.
 */
export interface Resident {
  readonly id: number;
  readonly memoryBytes: number;
  readonly pinned: boolean;
  /** Wall clock: when it came, and when it was last asked for anywhere in the fleet (0: never). */
  readonly since: number;
  readonly lastServedAt: number;
  /** How often it is asked for. */
  readonly rate: number;
}

export interface EvictionTerms {
  readonly policy: "lru" | "cost";
  readonly idleMs: number;
  readonly residenceMs: number;
}

/** Enough of them to free so many bytes, the least wanted first; undefined when there are not enough. `forPinned`: what needs the room may not wait. */
export function chooseVictims(
  residents: readonly Resident[],
  needBytes: number,
  terms: EvictionTerms,
  wall: number,
  forPinned = false,
): Resident[] | undefined {
  const movable = residents.filter((each) => mayGo(each, terms, wall, forPinned));
  movable.sort((a, b) => worth(a, terms) - worth(b, terms) || b.memoryBytes - a.memoryBytes || a.id - b.id);
  const victims: Resident[] = [];
  let freed = 0;
  for (const each of movable) {
    if (freed >= needBytes) break;
    victims.push(each);
    freed += each.memoryBytes;
  }
  if (freed < needBytes) return undefined;
  // A small one that was taken first may turn out not to be needed beside a large one.
  return victims.filter((each) => {
    if (freed - each.memoryBytes < needBytes) return true;
    freed -= each.memoryBytes;
    return false;
  });
}

function mayGo(each: Resident, terms: EvictionTerms, wall: number, forPinned: boolean): boolean {
  if (each.pinned || each.memoryBytes === 0) return false;
  if (forPinned) return true;
  const idle = wall - Math.max(each.lastServedAt, each.since);
  return idle >= terms.idleMs && wall - each.since >= terms.residenceMs;
}

/** Low goes first. */
function worth(each: Resident, { policy }: EvictionTerms): number {
  if (policy === "lru") return Math.max(each.lastServedAt, each.since);
  return each.rate / each.memoryBytes;
}
