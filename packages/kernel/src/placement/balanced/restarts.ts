/**
 * Tells which members a rolling restart has already been through. Nobody announces such a restart; it shows in nodes that come back with a new boot, or
 * come with another version, shortly after each other. Upgrades, rollbacks and restarts of the same version all look alike from here.
 */

/** What one observer has seen of a member; all by its own monotonic clock, none by the members' word. */
export interface BootFacts {
  readonly node: string;
  readonly version: string;
  /** How long the observer has seen this boot of the node; Infinity when it was there before the observer. */
  readonly aliveMs: number;
  /** The observer has seen the node under another boot before. */
  readonly returned: boolean;
}

/**
 * The nodes to be marked as `restarted` in a plan's input; empty when no rolling restart is under way. It is under way from the first node that came back, or
 * came with another version, until `quietMs` after the last one, or until no member is left to restart. When it stops half-way, say with one
 * node on a new version, that node gets its share `quietMs` later.
 */
export function restartedNodes(members: readonly BootFacts[], quietMs: number): ReadonlySet<string> {
  const none: ReadonlySet<string> = new Set();
  const newestFirst = [...members].sort((a, b) => a.aliveMs - b.aliveMs || (a.node < b.node ? -1 : 1));
  const newest = newestFirst[0];
  if (!newest || newest.aliveMs > quietMs) return none;
  const sameVersion = members.filter(({ version }) => version === newest.version);
  // The version that came last is the one that is rolled out, be it higher or lower.
  if (sameVersion.length < members.length) return new Set(sameVersion.map(({ node }) => node));
  const restarted = new Set<string>();
  let before = 0;
  for (const { node, aliveMs, returned } of newestFirst) {
    if (aliveMs - before > quietMs || !returned) break;
    restarted.add(node);
    before = aliveMs;
  }
  return restarted.size === members.length ? none : restarted;
}
