/** A stage for tests of the auction's checkers: three nodes, repositories of known sizes, and a store that a test writes as nodes would. */

import { auction, claim, type BidLot, type ReplicaKey } from "@keelson/kernel";
import { Streams } from "../../chance/streams.ts";
import { AuctionWorld } from "../../auction/world.ts";
import { MIB } from "../../auction/catalogue.ts";
import type { Checker, Scene } from "../checker.ts";
import { SERVICE, Stage } from "../stage.ts";

export const BUDGET = 1_000 * MIB;

export class AuctionStage extends Stage {
  readonly world = new AuctionWorld(
    {
      catalogue: { medianMib: 100, sigma: 0, largestMib: 100, overestimate: 0 },
      indexing: { buildMibPerSecond: 50, nodeMibPerSecond: 200 },
      budgetsMib: [1_000, 1_000],
      autoscaler: { lookMs: 0, startMs: 0, coolMs: 0, drainBelow: 0 },
      placement: {},
    },
    2,
    new Streams(1),
  );
  readonly used = new Map<string, number>();

  constructor() {
    super();
    this.world.usedBytes = (node) => this.used.get(node) ?? 0;
    this.world.budgetBytes = () => BUDGET;
    this.nowMs = 100_000;
  }

  /** The checker, watching this stage; the fleet is well, a is the evaluator. */
  begin(make: new (scene: Scene) => Checker, kind: "auction" | "claim" = "auction"): this {
    const placement = kind === "auction" ? auction({ service: SERVICE }) : claim({ service: SERVICE });
    const service = { ...this.scene.service, placement };
    this.watch(new make({ ...this.scene, service, auction: this.world }));
    this.era("open");
    for (const node of this.nodes) this.member(node.name);
    this.view(1, "a", "b", "c");
    this.put(this.keys.auction(SERVICE, "evaluator"), { node: "a" });
    this.nowMs += 60_000;
    return this;
  }

  bid(
    node: string,
    replica: ReplicaKey,
    freeBytes: number,
    given: Partial<BidLot> = {},
    others: readonly BidLot[] = [],
  ): void {
    const round = this.roundsOver(replica) + 1;
    const lot: BidLot = { replica, round, tenure: 0, maxBids: 0, bytes: 100, ...given };
    const bid = { freeBytes, lots: [lot, ...others] };
    const session = `${node}-session`;
    this.put(
      this.keys.auction(SERVICE, "bidder", node),
      { v: 1, node, session, budgetBytes: BUDGET, bid },
      session,
    );
  }

  pass(node: string, replica: ReplicaKey): void {
    const round = this.roundsOver(replica) + 1;
    const value = { v: 1, node, session: `${node}-session`, round, tenure: 0, maxBids: 0, reason: "full" };
    this.put(this.keys.auction(SERVICE, "pass", `${replica}/${node}`), value);
  }

  /** Closes the round in one commit, as the evaluator does; without a winner it is empty. */
  close(replica: ReplicaKey, winner?: string, n = this.roundsOver(replica) + 1): void {
    this.rounds.set(replica, n);
    const round = { v: 1, n, empties: winner === undefined ? 1 : 0, unheldAt: 0, last: "" };
    const tenure = { v: 1, node: winner, session: `${winner}-session`, era: 1, how: "grant", reason: "" };
    this.putAll([
      [this.keys.auction(SERVICE, "round", replica), round],
      ...(winner === undefined ? [] : ([[this.keys.tenure(replica), tenure]] as const)),
    ]);
  }

  readonly rounds = new Map<ReplicaKey, number>();

  roundsOver(replica: ReplicaKey): number {
    return this.rounds.get(replica) ?? 0;
  }

  seconds(count: number): void {
    for (let i = 0; i < count; i++) {
      this.nowMs += 1_000;
      this.tell({ kind: "second" });
    }
  }
}
