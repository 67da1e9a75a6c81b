import type { ReplicaKey } from "@keelson/kernel";
import type { StoredAnswer } from "./auction-book.ts";

/** Whom an evaluator need not wait for: bidders that kept a round waiting and have answered nothing since. Worked out from the store and true time, not from what any node thinks. */
export class Silence {
  readonly #answers: (replica: ReplicaKey) => readonly StoredAnswer[];
  readonly #silentMs: number;
  readonly #answeredAt = new Map<string, number>();
  readonly #silentSince = new Map<string, number>();
  /** When it last ended. */
  readonly #spokeAt = new Map<string, number>();

  constructor(answers: (replica: ReplicaKey) => readonly StoredAnswer[], silentMs: number) {
    this.#answers = answers;
    this.#silentMs = silentMs;
  }

  answered(node: string, atMs: number): void {
    this.#answeredAt.set(node, atMs);
    if (this.#silentSince.delete(node)) this.#spokeAt.set(node, atMs);
  }

  /** Marks those who have let this round wait too long. */
  look(replica: ReplicaKey, expected: Iterable<string>, nowMs: number): void {
    const answers = this.#answers(replica);
    if (answers.length === 0) return;
    const answered = new Set(answers.map(({ node }) => node));
    const bids = answers.filter(({ freeBytes }) => freeBytes !== undefined);
    const since = Math.min(...(bids.length > 0 ? bids : answers).map(({ atMs }) => atMs));
    for (const node of expected) {
      if (answered.has(node) || this.#silentSince.has(node)) continue;
      const waited = nowMs - Math.max(since, this.#answeredAt.get(node) ?? -Infinity);
      if (waited >= this.#silentMs) this.#silentSince.set(node, nowMs);
    }
  }

  has(node: string): boolean {
    return this.#silentSince.has(node);
  }

  /** Is it silent, or was it a moment ago? An evaluator may not have heard of the end. */
  hadSince(node: string, atMs: number): boolean {
    return this.has(node) || (this.#spokeAt.get(node) ?? -Infinity) >= atMs;
  }
}
