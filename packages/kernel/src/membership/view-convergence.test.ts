import fc from "fast-check";
import { expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import type { Member } from "./member.ts";
import type { MemberEntry, ViewEntry, ViewProposal } from "./view-change.ts";
import { ViewMachine } from "./view-machine.ts";

/** Several nodes, each with its own late copy of a small store, propose views of one service while members come and go. */

const keys = new Keys("test");
const nodes = ["a", "b", "c", "d", "e"];
const viewStepMs = 100;
const stabilisationMs = 300;
const stabilisationMaxMs = 900;
const lagMsMax = 200;
const tickMs = 10;

/** What all see sooner or later: member keys with revisions, and the view. */
interface Snapshot {
  readonly members: ReadonlyMap<string, MemberEntry>;
  readonly current: ViewEntry | undefined;
}

class Fleet {
  readonly #machines = new Map(nodes.map((node) => [node, machine(node)]));
  /** One per tick, so that a node that lags sees the store as it was. */
  readonly #history: Snapshot[] = [];
  #members = new Map<string, MemberEntry>();
  #current: ViewEntry | undefined;
  #revision = 0;
  now = 0;
  views = 0;
  /** Present members that some view left out again, and absent nodes that some view took in. */
  dropped = 0;
  ghosts = 0;
  /** Since when each present member has been there without being in the view. */
  readonly outsideSince = new Map<string, number>();

  join(node: string): void {
    if (this.#members.has(node)) return;
    const boot = `boot-${++this.#revision}`;
    this.#members.set(node, { member: member(node, boot), revision: this.#revision });
  }

  leave(node: string): void {
    if (this.#members.delete(node)) this.#revision += 1;
    this.outsideSince.delete(node);
  }

  get present(): string[] {
    return [...this.#members.keys()].sort();
  }

  get viewed(): string[] {
    return this.#current?.view.members.map((each) => each.node) ?? [];
  }

  tick(lagOf: (node: string) => number): void {
    this.#history.push({ members: new Map(this.#members), current: this.#current });
    for (const node of nodes) {
      const seen = this.#history[Math.max(0, this.#history.length - 1 - Math.floor(lagOf(node) / tickMs))]!;
      const facts = { current: seen.current, members: seen.members.values(), unheld: false };
      const { proposal } = this.#machines.get(node)!.decide(facts, this.now);
      if (proposal && this.#holds(proposal)) this.#commit(proposal);
    }
    for (const node of nodes) {
      if (!this.#members.has(node) || this.viewed.includes(node)) this.outsideSince.delete(node);
      else if (!this.outsideSince.has(node)) this.outsideSince.set(node, this.now);
    }
    this.now += tickMs;
  }

  #holds(proposal: ViewProposal): boolean {
    return proposal.guards.every(({ key, revision }) => {
      const now =
        key === keys.view("jobs") ? this.#current : this.#members.get(key.slice(key.lastIndexOf("/") + 1));
      return (now?.revision ?? 0) === revision;
    });
  }

  #commit({ view }: ViewProposal): void {
    const kept = new Set(view.members.map((each) => each.node));
    this.dropped += this.viewed.filter((node) => this.#members.has(node) && !kept.has(node)).length;
    this.ghosts += [...kept].filter((node) => !this.#members.has(node) && !this.viewed.includes(node)).length;
    this.views += 1;
    this.#current = { view, revision: ++this.#revision };
  }
}

function machine(node: string): ViewMachine {
  return new ViewMachine({
    node,
    keys,
    terms: { viewStepMs, joinBrieflyMs: 50, gatherMs: 20 },
    rules: { viewGuard: true },
    declaration: {
      service: "jobs",
      parameters: { shards: 4, replicas: 1, placement: {} },
      algorithm: "ring/1",
      stabilisationMs,
      stabilisationMaxMs,
    },
  });
}

function member(node: string, boot: string): Member {
  return {
    v: 1,
    node,
    boot,
    address: `${node}:1`,
    zone: "z",
    labels: {},
    capabilities: [],
    version: "1.0.0",
    protocol: { min: 1, max: 1 },
    capacity: 1,
    startedAt: 0,
    services: ["jobs"],
    liveness: "l",
    membership: "m",
  };
}

const steps = fc.array(
  fc.record({
    node: fc.constantFrom(...nodes),
    joins: fc.boolean(),
    waitMs: fc.constantFrom(0, 10, 60, 90, 120, 250, 700),
  }),
  { maxLength: 30 },
);
const lags = fc.array(fc.integer({ min: 0, max: lagMsMax }), {
  minLength: nodes.length,
  maxLength: nodes.length,
});

/** Every turn, and once more what copies lag behind, on top of the longest window. */
const waitMsMax = stabilisationMaxMs + nodes.length * viewStepMs + 2 * (lagMsMax + viewStepMs);

test("views never drop a present member, take everyone in within the stated time, and end as what is there", () => {
  fc.assert(
    fc.property(steps, lags, (script, lag) => {
      const fleet = new Fleet();
      const lagOf = (node: string): number => lag[nodes.indexOf(node)] ?? 0;
      const run = (ms: number): void => {
        for (const until = fleet.now + ms; fleet.now < until;) {
          fleet.tick(lagOf);
          for (const since of fleet.outsideSince.values())
            expect(fleet.now - since).toBeLessThanOrEqual(waitMsMax);
        }
      };
      fleet.join("a");
      for (const { node, joins, waitMs } of script) {
        if (joins) fleet.join(node);
        else fleet.leave(node);
        run(waitMs);
      }
      run(waitMsMax);
      expect([fleet.dropped, fleet.ghosts]).toEqual([0, 0]);
      expect(fleet.viewed).toEqual(fleet.present);
      expect(fleet.views).toBeLessThanOrEqual(script.length + 2);
      const { views } = fleet;
      run(1_000);
      expect(fleet.views).toBe(views);
    }),
    { numRuns: 100 },
  );
});
