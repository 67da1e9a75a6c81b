import type { Keys } from "../identity/keys.ts";
import { hash } from "../placement/hash.ts";
import type { Revision } from "../store/contract.ts";
import type { Rules } from "../tenure/rules.ts";
import type { Terms } from "../tenure/terms.ts";
import { standing, type ServiceDeclaration, type Standing } from "./declaration.ts";
import {
  proposeView,
  viewDifference,
  type MemberEntry,
  type ViewDifference,
  type ViewEntry,
  type ViewProposal,
} from "./view-change.ts";

/** What is true now, as far as this node's copy of the store tells. */
export interface ViewFacts {
  readonly current: ViewEntry | undefined;
  /** Every member key of the fleet; those that do not offer the service are told apart here. */
  readonly members: Iterable<MemberEntry>;
  /** Some replica of the service has no holder. */
  readonly unheld: boolean;
}

export interface ViewDecision {
  /** Commit this now. */
  readonly proposal?: ViewProposal;
  /** Decide again then, or earlier if a fact changes. */
  readonly wakeAt?: number;
  /** This node's declaration differs from the view, and the view wins; for logs and `doctor`. */
  readonly mismatch?: string;
}

/**
 * Decides on one node when a service's next view is due, what it says, and whether it is this node's turn to say it. Nobody coordinates:
 * the guards let one proposal win and make all others harmless, so turns only save work. It is level-triggered: what is pending is
 * the difference between the member keys and the view, however it came about.
 *
 * Losses, leaves, and changes of weight, zone or parameters are due at once. Joins are due when they have been quiet for the service's window,
 * or sooner: while replicas are unheld, and almost at once when no member is left. It bears being asked at any time; a proposal is repeated after
 * one step if the view has not changed by then.
 */
export class ViewMachine {
  readonly #node: string;
  readonly #keys: Keys;
  readonly #terms: Pick<Terms, "viewStepMs" | "joinBrieflyMs" | "gatherMs">;
  readonly #rules: Pick<Rules, "viewGuard">;
  readonly #declaration: ServiceDeclaration;
  /** When each pending join was first seen, by node and boot: a node that came back is a new join. */
  #joins = new Map<string, number>();
  /** Since when something is due at once; Infinity when nothing is. */
  #urgentSince = Infinity;
  /** The view that turns are counted for, and since when we know it. */
  #revision: Revision | undefined;
  #revisionSince = -Infinity;
  #standing: Standing | undefined;
  #quietUntil = -Infinity;

  constructor(options: {
    node: string;
    keys: Keys;
    terms: Pick<Terms, "viewStepMs" | "joinBrieflyMs" | "gatherMs">;
    rules: Pick<Rules, "viewGuard">;
    declaration: ServiceDeclaration;
  }) {
    this.#node = options.node;
    this.#keys = options.keys;
    this.#terms = options.terms;
    this.#rules = options.rules;
    this.#declaration = options.declaration;
  }

  decide(facts: ViewFacts, now: number): ViewDecision {
    const { current } = facts;
    const { service } = this.#declaration;
    if (current?.revision !== this.#revision) {
      this.#revision = current?.revision;
      this.#revisionSince = now;
      this.#standing = current && standing(this.#declaration, current.view);
      this.#urgentSince = Infinity;
      this.#quietUntil = -Infinity;
    }
    const members = [...facts.members];
    const difference = viewDifference(service, current?.view, members);
    this.#noteJoins(difference.added, now);
    const told = this.#standing?.kind === "mismatch" ? { mismatch: this.#standing.problem } : {};
    const newer = this.#standing?.kind === "newer";

    // When nobody of the view is left, those who join replace them in one view.
    const replaced = this.#joins.size > 0 && nobodyLeft(current, difference);
    const urgent = newer || (difference.removed.length > 0 && !replaced) || difference.changed.length > 0;
    if (!urgent) this.#urgentSince = Infinity;
    else if (this.#urgentSince === Infinity) this.#urgentSince = now;
    const joinsAt = this.#joinsAt(facts, difference);
    const dueAt = Math.min(this.#urgentSince, joinsAt);
    if (dueAt === Infinity) return told;
    const turnAt =
      Math.max(dueAt, this.#revisionSince) + this.#position(members, current) * this.#terms.viewStepMs;
    const wakeAt = Math.max(turnAt, this.#quietUntil);
    if (now < wakeAt) return { ...told, wakeAt };

    const proposal = proposeView({
      keys: this.#keys,
      current,
      difference: now >= joinsAt ? difference : { ...difference, added: [] },
      declaration: this.#declaration,
      adopt: newer,
      memberGuards: this.#rules.viewGuard,
    });
    this.#quietUntil = now + this.#terms.viewStepMs;
    return { ...told, proposal, wakeAt: this.#quietUntil };
  }

  #noteJoins(added: readonly MemberEntry[], now: number): void {
    const joins = new Map<string, number>();
    for (const { member } of added) {
      const key = `${member.node}/${member.boot}`;
      joins.set(key, this.#joins.get(key) ?? now);
    }
    this.#joins = joins;
  }

  /** When the pending joins may be taken in; Infinity when there are none. */
  #joinsAt(facts: ViewFacts, difference: ViewDifference): number {
    if (this.#joins.size === 0) return Infinity;
    const seen = [...this.#joins.values()];
    const first = Math.min(...seen);
    const { stabilisationMs, stabilisationMaxMs } = this.#declaration;
    // Nobody holds anything: wait only until those who start together are all here, or the first would take everything and hand most of it on.
    if (nobodyLeft(facts.current, difference))
      return Math.min(Math.max(...seen) + this.#terms.gatherMs, first + this.#terms.joinBrieflyMs);
    const quiet = Math.min(Math.max(...seen) + stabilisationMs, first + stabilisationMaxMs);
    return facts.unheld ? Math.min(quiet, first + this.#terms.joinBrieflyMs) : quiet;
  }

  /** How many others go before us. A node that is not a member, such as a leaving one, goes last. */
  #position(members: readonly MemberEntry[], current: ViewEntry | undefined): number {
    const n = (current?.view.n ?? 0) + 1;
    const mine = hash(this.#node, n);
    let before = 0;
    let others = 0;
    let member = false;
    for (const { member: each } of members) {
      if (!each.services.includes(this.#declaration.service)) continue;
      if (each.node === this.#node) member = true;
      else {
        others += 1;
        const theirs = hash(each.node, n);
        if (theirs < mine || (theirs === mine && each.node < this.#node)) before += 1;
      }
    }
    return member ? before : others;
  }
}

function nobodyLeft(current: ViewEntry | undefined, difference: ViewDifference): boolean {
  return difference.removed.length === (current?.view.members.length ?? 0);
}
