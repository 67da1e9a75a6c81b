import type { Plan } from "../../placement/plan.ts";
import { balanced, BALANCED } from "../../placement/balanced/balanced.ts";
import type { BalancedInput } from "../../placement/balanced/input.ts";
import {
  balancedLimits,
  balanceTerms,
  type BalanceTerms,
  type BalancedLimits,
} from "../../placement/balanced/limits.ts";
import { LoadBook } from "../../placement/balanced/load-book.ts";
import { readLoadReport } from "../../placement/balanced/load-report.ts";
import { encodePlanChunk } from "../../placement/balanced/plan-chunk.ts";
import { chunkChanges, storedTargets } from "../../placement/balanced/plan-store.ts";
import type { BalancedProposal, Why } from "../../placement/balanced/proposal.ts";
import { restartedNodes } from "../../placement/balanced/restarts.ts";
import { StoredPlans } from "../../placement/balanced/stored-plan.ts";
import { pinsOf, readWishes } from "../../operator/wishes.ts";
import type { ServiceParameters } from "../../membership/view.ts";
import type { Controller, ControllerInput, Proposal } from "../controller.ts";
import { BootBook, type RestartsRecord } from "./boots.ts";
import { planInput } from "./plan-input.ts";
import { BalanceReading } from "./reading.ts";

export interface BalanceOptions {
  readonly service: string;
  /** The node that this runs on. */
  readonly node: string;
  /**
   * For a service that another placement rules: plans are computed beside that one's and nothing is stored. The options are those that `balanced/1` would have.
   */
  readonly shadow?: {
    readonly placement: ServiceParameters["placement"];
    /** Told when the plan that is not followed would move more, or less, than it would have before. */
    readonly differs: (moves: number, replicas: number) => void;
  };
}

const forBalance: ReadonlySet<Why> = new Set(["zones", "peak", "floor", "swap"]);

/**
 * Makes the plans of one service whose placement is `balanced/1`: looks at who is there, who holds what, what nodes have measured and what operators wish, computes
 * a plan, and stores the chunks of it that changed. Every node has one and lets it watch; only the manager's makes plans. What it remembers beside the
 * store (smoothed loads, when members came) makes plans better, and none of it is needed for a plan to be right.
 */
export class BalanceController implements Controller {
  readonly name: string;
  readonly kinds = ["view", "tenure", "plan", "balance", "operator", "member"] as const;
  readonly debounceMs = 100;
  readonly periodMs = 5_000;

  readonly #service: string;
  readonly #shadow: BalanceOptions["shadow"];
  readonly #reading: BalanceReading;
  readonly #boots: BootBook;
  readonly #plans: StoredPlans;
  #loads = new LoadBook();
  #terms: BalanceTerms | undefined;
  #parameters: ServiceParameters | undefined;
  #membersSeen = "";
  #membersSince = -Infinity;
  #churnAt = -Infinity;
  #waits = false;
  #looked = "";
  /** In shadow: how many moves were last told of. */
  #differs = 0;
  #last: { readonly input: BalancedInput; readonly proposal: BalancedProposal } | undefined;

  constructor(options: BalanceOptions) {
    this.#service = options.service;
    this.#shadow = options.shadow;
    this.#reading = new BalanceReading(options.service);
    this.#boots = new BootBook(options.node);
    this.#plans = new StoredPlans(options.service);
    this.name = options.shadow ? `shadow of ${options.service}` : `balance of ${options.service}`;
  }

  /** Who is there, and since when: what whoever is elected next has to know. Cheap; every node does it. */
  observe(input: ControllerInput): void {
    if (!this.#reading.lookAtView(input)) return;
    const members = this.#reading.members(input);
    this.#boots.look(members, this.#record(input), input.now);
    const seen = members.map(({ node, boot, capacity }) => `${node} ${boot} ${capacity}`).join("\n");
    if (seen === this.#membersSeen) return;
    this.#membersSeen = seen;
    this.#membersSince = input.now;
  }

  reconcile(input: ControllerInput): readonly Proposal[] {
    this.look(input);
    const plan = this.input(input);
    if (!plan) return [];
    const restarts = this.#restarts(input);
    const looked = this.#fingerprint(plan);
    if (looked === this.#looked) return restarts;
    this.#looked = looked;
    const proposal = balanced(plan);
    this.#last = { input: plan, proposal };
    this.#waits = proposal.waiting.some(({ why }) => forBalance.has(why));
    if (proposal.moves.some(({ why }) => forBalance.has(why))) this.#churnAt = input.now;
    if (!this.#shadow) return [...restarts, ...this.#store(input, proposal)];
    const moves = proposal.moves.length + proposal.waiting.length;
    if (moves !== this.#differs) this.#shadow.differs((this.#differs = moves), proposal.targets.length);
    return [];
  }

  refused(): void {
    this.#looked = "";
  }

  /** When there will be something to do although nothing has happened: balance may begin, or go on. */
  wakeAt(): number {
    if (!this.#waits || !this.#terms) return Infinity;
    return this.#mayBalanceAt(this.#terms);
  }

  /** What the next plan would be made from; undefined while there is no view to plan for. Any node can say; the manager's loads are smoothed, others' are as last reported. */
  input(input: ControllerInput, limits?: Partial<BalancedLimits>): BalancedInput | undefined {
    const { view } = this.#reading;
    if (!view || !this.#terms || !this.#ready()) return undefined;
    const placement = this.#shadow?.placement ?? view.value.parameters.placement;
    const mayBalance = input.now >= this.#mayBalanceAt(this.#terms);
    const service = { shards: this.#reading.shards, replicas: this.#reading.replicas };
    return planInput({
      reading: this.#reading,
      loads: this.#loads,
      restarted: this.#restarted(input.now),
      pins: pinsOf(readWishes(input.keys, input.entries()), this.#service),
      targets: this.#shadow ? this.#reading.holders : storedTargets(service, this.#reading.chunks()),
      lines: this.#reading.holders.includes(undefined) ? this.#storedPlan().lines : undefined,
      // What only serves balance waits, and is shown as waiting.
      limits: { ...balancedLimits(placement), ...(mayBalance ? {} : { churnMovesMax: 0 }), ...limits },
    });
  }

  /** For whoever wants to know what a plan would be without being the manager: as {@link reconcile}, but nothing is proposed. */
  look(input: ControllerInput): void {
    this.observe(input);
    if (!this.#ready()) return;
    this.#reading.lookAtReplicas(input);
    this.#measure(input);
  }

  /** The last plan that was computed here, and what it was made from. */
  get last(): { readonly input: BalancedInput; readonly proposal: BalancedProposal } | undefined {
    return this.#last;
  }

  /** Is there a view, of this placement unless in shadow, whose parameters can be planned with? */
  #ready(): boolean {
    const view = this.#reading.view?.value;
    if (!view || (!this.#shadow && view.algorithm !== BALANCED)) return false;
    if (this.#parameters === view.parameters) return true;
    this.#parameters = view.parameters;
    const terms = balanceTerms(this.#shadow?.placement ?? view.parameters.placement);
    if (JSON.stringify(terms) !== JSON.stringify(this.#terms)) {
      this.#terms = terms;
      this.#loads = new LoadBook(terms);
    }
    return true;
  }

  #mayBalanceAt({ calmMs, roundMs }: BalanceTerms): number {
    return Math.max(this.#membersSince + calmMs, this.#churnAt + roundMs);
  }

  #restarted(now: number): ReadonlySet<string> {
    const nodes = this.#reading.view?.value.members.map(({ node }) => node) ?? [];
    return restartedNodes(this.#boots.facts(nodes, now), this.#terms!.restartQuietMs);
  }

  #measure(input: ControllerInput): void {
    const { names, view } = this.#reading;
    const nodes = view!.value.members.map(({ node }) => node);
    this.#loads.advance(input.now);
    let held: ReadonlyMap<string, readonly string[]> | undefined;
    for (const node of nodes) {
      const entry = input.get(input.keys.load(this.#service, node));
      if (!entry || this.#loads.knows(node, entry.revision)) continue;
      const report = readLoadReport(entry.value);
      if (!report) continue;
      held ??= this.#reading.heldBy();
      this.#loads.take(node, entry.revision, report, held.get(node) ?? [], input.now);
    }
    this.#loads.keepOnly(names, nodes);
  }

  #storedPlan(): Plan {
    return this.#plans.plan(this.#reading.view!.value, this.#reading.chunks());
  }

  /** Everything that could make the next plan another one than the last. */
  #fingerprint({ members, pins, limits }: BalancedInput): string {
    const restarted = members.filter((member) => member.restarted).map(({ node }) => node);
    return JSON.stringify([
      this.#reading.version,
      this.#loads.version,
      restarted,
      pins,
      limits.churnMovesMax,
      this.#reading.problems,
    ]);
  }

  #record(input: ControllerInput): RestartsRecord | undefined {
    const entry = input.get(input.keys.restarts(this.#service));
    return entry && (JSON.parse(entry.value) as RestartsRecord);
  }

  /** Keeps for the next manager which nodes have been restarted. */
  #restarts(input: ControllerInput): Proposal[] {
    if (this.#shadow) return [];
    const key = input.keys.restarts(this.#service);
    const entry = input.get(key);
    const restarted = this.#restarted(input.now);
    const value = JSON.stringify(this.#boots.record(restarted));
    if (entry ? entry.value === value : restarted.size === 0) return [];
    return [
      {
        commit: {
          guards: [{ key, revision: entry?.revision ?? 0 }],
          writes: [{ kind: "put", key, value }],
        },
        reason:
          restarted.size === 0
            ? "no rolling restart is under way any more"
            : `a rolling restart has been through ${[...restarted].sort().join(", ")}`,
      },
    ];
  }

  #store(input: ControllerInput, proposal: BalancedProposal): Proposal[] {
    const { shards, replicas, view } = this.#reading;
    const { put, remove } = chunkChanges(proposal, { shards, replicas }, this.#reading.chunks());
    const viewGuard = { key: input.keys.view(this.#service), revision: view!.revision };
    const reason = described(proposal);
    const chunkCommit = (chunk: number, value: string | undefined): Proposal => {
      const key = input.keys.plan(this.#service, chunk);
      return {
        commit: {
          guards: [{ key, revision: this.#reading.chunkRevision(chunk) }, viewGuard],
          writes: [value === undefined ? { kind: "delete", key } : { kind: "put", key, value }],
        },
        reason: `chunk ${chunk} of the plan for view ${proposal.viewN}: ${reason}`,
      };
    };
    return [
      ...put.map((chunk) => chunkCommit(chunk.chunk, encodePlanChunk(chunk))),
      ...remove.map((chunk) => chunkCommit(chunk, undefined)),
    ];
  }
}

function described({ moves, waiting, refusals }: BalancedProposal): string {
  const counts = new Map<Why, number>();
  for (const { why } of moves) counts.set(why, (counts.get(why) ?? 0) + 1);
  const begun = [...counts].map(([why, count]) => `${why} ${count}`).join(", ");
  return `${begun === "" ? "no move" : begun}, ${waiting.length} waiting, ${refusals.length} refused`;
}
