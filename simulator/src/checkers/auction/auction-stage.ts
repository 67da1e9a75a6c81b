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
  /** Revisions of the bids, by node. */
  readonly bids = new Map<string, number>();

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
    this.bids.set(node, this.revision);
  }

  pass(node: string, replica: ReplicaKey): void {
    const round = this.roundsOver(replica) + 1;
    const value = { v: 1, node, session: `${node}-session`, round, tenure: 0, maxBids: 0, reason: "full" };
    this.put(this.keys.auction(SERVICE, "pass", `${replica}/${node}`), value);
  }

  /** Closes the round in one commit, as the evaluator does; without a winner it is empty. `seen` are the bids that it guards on. */
  close(
    replica: ReplicaKey,
    winner?: string,
    n = this.roundsOver(replica) + 1,
    seen: readonly string[] = [],
  ): void {
    const puts = this.closing(replica, winner, n);
    this.send("a", puts, seen);
    this.putAll(puts);
  }

  closing(replica: ReplicaKey, winner: string | undefined, n: number): (readonly [string, object])[] {
    this.rounds.set(replica, n);
    const round = { v: 1, n, empties: winner === undefined ? 1 : 0, unheldAt: 0, last: "" };
    const tenure = { v: 1, node: winner, session: `${winner}-session`, era: 1, how: "grant", reason: "" };
    return [
      [this.keys.auction(SERVICE, "round", replica), round],
      ...(winner === undefined ? [] : ([[this.keys.tenure(replica), tenure]] as const)),
    ];
  }

  /** A node sends a commit; that it lands is told apart. */
  send(node: string, puts: readonly (readonly [string, object])[], seen: readonly string[] = []): void {
    const writes = puts.map(([key, value]) => ({ kind: "put", key, value: JSON.stringify(value) }) as const);
    const guards = seen.map((name) => {
      const key = this.keys.auction(SERVICE, "bidder", name);
      return { key, revision: this.bids.get(name) ?? 0 };
    });
    this.tell({ kind: "commit-sent", node, commit: { guards, writes } });
  }

  /** A grant by rank: sent, and landed after so long. */
  takes(node: string, replica: ReplicaKey, afterMs = 0): void {
    const tenure = { v: 1, node, session: `${node}-session`, era: 1, how: "grant", reason: "" };
    this.send(node, [[this.keys.tenure(replica), tenure]]);
    this.nowMs += afterMs;
    this.put(this.keys.tenure(replica), tenure);
  }

  memory(node: string, replica: ReplicaKey, what: "building" | "built" | "freed", bytes = 1): void {
    this.tell({ kind: "memory", node, replica, what, bytes, usedBytes: bytes, budgetBytes: BUDGET });
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
