import type { BidLot, ReplicaKey } from "@keelson/kernel";
import type { Scene } from "../checker.ts";
import type { AuctionBook, StoredAnswer } from "./auction-book.ts";
import type { Closes, SentClose } from "./closes.ts";

/**
 * What a bid still offers for one of its lots when an evaluator judges it: its memory, less what it was given of its others before. An evaluator goes by what it has sent, landed or not, and by its copy of the
 * store; so there is a least and a most.
 */
export class Spending {
  readonly #scene: Scene;
  readonly #book: AuctionBook;
  readonly #closes: Closes;

  constructor(scene: Scene, book: AuctionBook, closes: Closes) {
    this.#scene = scene;
    this.#book = book;
    this.#closes = closes;
  }

  /** At least so much: everything that may have been taken for given is taken off. */
  leastLeft(answer: StoredAnswer & { readonly freeBytes: number }, close: SentClose | undefined): number {
    let left = answer.freeBytes;
    for (const lot of answer.others) {
      const before = this.#closes.first(lot.replica, lot.round, answer.session);
      const given = before ? before.order < (close?.order ?? Infinity) : this.#has(lot, answer.session);
      if (given) left -= Math.max(lot.bytes, this.#footprint(lot.replica));
    }
    return left;
  }

  /** At most so much: only what the sender of the close itself gave it before, and what the store then had, is taken off. */
  mostLeft(answer: StoredAnswer & { readonly freeBytes: number }, close: SentClose | undefined): number {
    let left = answer.freeBytes;
    for (const lot of answer.others) {
      const before = this.#closes.last(lot.replica, lot.round, answer.session);
      const sent = before && close && before.node === close.node && before.order < close.order;
      if (sent && this.#has(lot, answer.session)) left -= lot.bytes;
    }
    return left;
  }

  #has({ replica }: BidLot, session: string): boolean {
    const tenure = this.#scene.ledger.tenures.get(replica)?.value.session;
    const award = this.#book.awards.get(replica)?.value;
    return tenure === session || (award?.session === session && award.fromSession === tenure);
  }

  #footprint(replica: ReplicaKey): number {
    return this.#book.footprints.get(replica.slice(0, replica.lastIndexOf("/")))?.value.bytes ?? 0;
  }
}
