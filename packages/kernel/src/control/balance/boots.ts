import type { BootFacts } from "../../placement/balanced/restarts.ts";

/** `balance/<service>/restarts`: the nodes that a rolling restart has been through, with the boots they came back with, for the next manager. */
export interface RestartsRecord {
  readonly v: 1;
  readonly boots: Readonly<Record<string, string>>;
}

/** What is known of the process that runs a node. */
interface Seen {
  boot: string;
  version: string;
  /** −Infinity: it was there before the observer. */
  since: number;
  returned: boolean;
  lastSeen: number;
}

/** So many nodes that are gone are remembered, to know them when they come back. */
const goneMax = 1_000;

/**
 * What one node has seen of the boots of a service's members, by its own monotonic clock. Every node watches, elected or not, because whoever is elected in
 * the middle of a rolling restart has to know what has been restarted. What a node could not see, because it was restarted itself, it takes from the record that the managers before it kept.
 */
export class BootBook {
  readonly #self: string;
  readonly #seen = new Map<string, Seen>();
  #looked = false;

  /** `self` is the observer's own node, which cannot have seen itself come back. */
  constructor(self: string) {
    this.#self = self;
  }

  /** Looks at the members. `record` is what managers before have stored. */
  look(
    members: Iterable<{ readonly node: string; readonly boot: string; readonly version: string }>,
    record: RestartsRecord | undefined,
    now: number,
  ): void {
    for (const { node, boot, version } of members) {
      const known = this.#seen.get(node);
      if (!known) {
        const since = this.#looked ? now : -Infinity;
        this.#seen.set(node, { boot, version, since, returned: false, lastSeen: now });
      } else if (known.boot !== boot) {
        this.#seen.set(node, { boot, version, since: now, returned: true, lastSeen: now });
      } else known.lastSeen = now;
      const seen = this.#seen.get(node)!;
      if (seen.returned || !record) continue;
      // Who comes while a restart is under way, and looks for the first time, is part of it: the manager that would have noted so may be the next to go.
      const comes = node === this.#self && !this.#looked && Object.keys(record.boots).length > 0;
      if (record.boots[node] !== boot && !comes) continue;
      seen.returned = true;
      // Somebody saw it come back; how long ago is not known, and the restart may be under way for that much longer.
      if (seen.since === -Infinity) seen.since = now;
    }
    this.#looked = true;
    this.#forget(now);
  }

  /** As `restartedNodes` wants it. Only of members that were looked at. */
  facts(nodes: Iterable<string>, now: number): BootFacts[] {
    const facts: BootFacts[] = [];
    for (const node of nodes) {
      const seen = this.#seen.get(node);
      if (!seen) continue;
      const { version, since, returned } = seen;
      facts.push({ node, version, aliveMs: now - since, returned });
    }
    return facts;
  }

  /** What the next manager should know. */
  record(restarted: ReadonlySet<string>): RestartsRecord {
    const boots = [...restarted].sort().map((node) => [node, this.#seen.get(node)?.boot ?? ""] as const);
    return { v: 1, boots: Object.fromEntries(boots) };
  }

  #forget(now: number): void {
    const gone = [...this.#seen].filter(([, { lastSeen }]) => lastSeen < now);
    if (gone.length <= goneMax) return;
    gone.sort(([, a], [, b]) => a.lastSeen - b.lastSeen);
    for (const [node] of gone.slice(0, gone.length - goneMax)) this.#seen.delete(node);
  }
}
