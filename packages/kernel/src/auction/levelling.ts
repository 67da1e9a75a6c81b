import type { ReplicaKey } from "../identity/keys.ts";

/** A node's memory, with what is on its way there counted as there. */
export interface Load {
  readonly node: string;
  readonly budgetBytes: number;
  readonly usedBytes: number;
}

/** A replica that could be moved. */
export interface Movable {
  readonly replica: ReplicaKey;
  readonly node: string;
  readonly bytes: number;
}

/**
 * What each node would use if free memory were level, which is what auctions strive for: the same number of bytes free everywhere, except on nodes that are too small to have so much.
 */
export function levelUse(loads: readonly Load[]): Map<string, number> {
  const total = loads.reduce((sum, load) => sum + load.usedBytes, 0);
  const bySize = [...loads].sort((a, b) => b.budgetBytes - a.budgetBytes);
  // The level is set by the largest nodes alone as long as the next one is too small to be used at it.
  let level = 0;
  let budgets = 0;
  for (let n = 1; n <= bySize.length; n++) {
    budgets += bySize[n - 1]!.budgetBytes;
    level = (budgets - total) / n;
    if (n === bySize.length || level >= bySize[n]!.budgetBytes) break;
  }
  return new Map(loads.map(({ node, budgetBytes }) => [node, Math.max(0, budgetBytes - level)]));
}

/** How much the fullest node is above its part, as a share of what nodes use on average. */
export function imbalance(loads: readonly Load[]): number {
  const total = loads.reduce((sum, load) => sum + load.usedBytes, 0);
  if (loads.length < 2 || total === 0) return 0;
  const level = levelUse(loads);
  const most = Math.max(...loads.map(({ node, usedBytes }) => usedBytes - level.get(node)!));
  return most / (total / loads.length);
}

/**
 * A move off a node whose shards have grown beyond its memory: the smallest that brings it below, or else the largest that another node has room for. Undefined when no node
 * is in such need, or none has room.
 */
export function relievingMove(
  loads: readonly Load[],
  movable: readonly Movable[],
  /** Whether a node has another replica of the shard: it will not take this one. */
  hasAnother: (node: string, replica: ReplicaKey) => boolean,
): Movable | undefined {
  for (const { node, budgetBytes, usedBytes } of loads) {
    const over = usedBytes - budgetBytes;
    if (over <= 0) continue;
    const others = loads.filter((other) => other.node !== node);
    const fits = ({ bytes, replica }: Movable): boolean =>
      others.some((other) => bytes <= freeBytes(other) && !hasAnother(other.node, replica));
    const fitting = movable
      .filter((each) => each.node === node && each.bytes > 0 && fits(each))
      .sort((a, b) => a.bytes - b.bytes);
    const best = fitting.find(({ bytes }) => bytes >= over) ?? fitting.at(-1);
    if (best) return best;
  }
  return undefined;
}

function freeBytes({ budgetBytes, usedBytes }: Load): number {
  return budgetBytes - usedBytes;
}

/**
 * The one move that helps most, when memory is less level than `levelAt`: from the node that is farthest above its part, the replica whose size comes nearest to half the way down to the node
 * farthest below. Undefined when all is level, or when every replica there is too large to help.
 */
export function levellingMove(
  loads: readonly Load[],
  movable: readonly Movable[],
  levelAt: number,
): Movable | undefined {
  if (levelAt === 0 || imbalance(loads) <= levelAt) return undefined;
  const level = levelUse(loads);
  const surplus = (load: Load): number => load.usedBytes - level.get(load.node)!;
  const byNeed = [...loads].sort((a, b) => surplus(b) - surplus(a) || (a.node < b.node ? -1 : 1));
  const from = byNeed[0]!;
  const to = byNeed.at(-1)!;
  const gap = surplus(from) - surplus(to);
  const free = freeBytes(to);
  let best: Movable | undefined;
  for (const each of movable) {
    // Less than the gap, or the two would only change places.
    if (each.node !== from.node || each.bytes <= 0 || each.bytes > 0.9 * gap || each.bytes > free) continue;
    if (!best || distance(each, gap) < distance(best, gap)) best = each;
  }
  return best;
}

function distance(movable: Movable, gap: number): number {
  return Math.abs(movable.bytes - gap / 2);
}
