import type { SimEvent } from "../../events.ts";
import type { Checker, Scene } from "../checker.ts";
import { AuctionBook } from "./auction-book.ts";

/** Auctions are prompt: the median round is closed within 50 ms of its last answer. Looked at whenever the fleet has settled. */
export class PromptnessChecker implements Checker {
  readonly name = "promptness";
  readonly hears: readonly SimEvent["kind"][];
  readonly #scene: Scene;
  readonly #book: AuctionBook;
  /** Of every round that was won, since the beginning. */
  readonly afterMs: number[] = [];

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#book = new AuctionBook(scene.ledger.keys, scene.service.name);
    this.hears =
      scene.auction && scene.service.placement.kind === "auction"
        ? ["store-changed", "store-recovered", "settled"]
        : [];
  }

  on(event: SimEvent): void {
    const now = this.#scene.now();
    if (event.kind === "store-recovered") this.#book.reload(this.#scene.entries(), now);
    else if (event.kind === "settled") this.#settled();
    else if (event.kind === "store-changed") {
      const rounds = `${this.#scene.ledger.keys.auction(this.#scene.service.name, "round")}/`;
      for (const change of event.batch.changes)
        if (change.kind === "put" && change.entry.key.startsWith(rounds))
          this.#closed(`${this.#scene.service.name}/${change.entry.key.slice(rounds.length)}`, event, now);
      this.#book.apply(event.batch, now);
    }
  }

  /** Requires that the book does not have the change yet. */
  #closed(replica: string, { batch }: SimEvent & { kind: "store-changed" }, now: number): void {
    const { keys } = this.#scene.ledger;
    const given = new Set([keys.tenure(replica), keys.auction(this.#scene.service.name, "award", replica)]);
    if (!batch.changes.some((change) => change.kind === "put" && given.has(change.entry.key))) return;
    const answers = this.#book.answers(replica);
    if (answers.length > 0) this.afterMs.push(now - Math.max(...answers.map(({ atMs }) => atMs)));
  }

  #settled(): void {
    if (this.afterMs.length === 0) return;
    const sorted = this.afterMs.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    if (median >= medianMsMax)
      this.#scene.report(
        this.name,
        this.#scene.service.name,
        `the median of ${sorted.length} rounds is closed ${median.toFixed(1)} ms after its last answer`,
      );
  }
}

const medianMsMax = 50;
