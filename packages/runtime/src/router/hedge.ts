import { RetryBudget, type Clock, type RouteTable } from "@keelson/kernel";
import type { Router, RouterAnswer, RouterRequest } from "./router.ts";

export interface HedgeTerms {
  /** A read that takes longer than this share of the others is asked of another replica as well. */
  readonly quantile: number;
  /** Never sooner, however fast the others are. */
  readonly afterMsMin: number;
  readonly afterMsMax: number;
  /** Hedges per read, in the long run: what hedging may add to the load. */
  readonly ratio: number;
}

export const HEDGE: HedgeTerms = { quantile: 0.95, afterMsMin: 2, afterMsMax: 1_000, ratio: 0.05 };

/** Services whose latencies are followed; a fleet has few, and a stranger cannot make more. */
const SERVICES_MAX = 256;

/**
 * Sends a slow read to another replica too and takes whichever answers first. When a read is slow it learns from the reads before it: the delay
 * follows a quantile of each service's latencies. Writes, and shards with one holder, pass straight through.
 */
export class Hedge {
  readonly counts = { sent: 0, won: 0 };
  readonly #router: Pick<Router, "call">;
  readonly #table: RouteTable;
  readonly #clock: Clock;
  readonly #terms: HedgeTerms;
  readonly #budget: RetryBudget;
  readonly #afterMs = new Map<string, number>();

  constructor(
    ports: { readonly router: Pick<Router, "call">; readonly table: RouteTable; readonly clock: Clock },
    terms: HedgeTerms = HEDGE,
  ) {
    this.#router = ports.router;
    this.#table = ports.table;
    this.#clock = ports.clock;
    this.#terms = terms;
    this.#budget = new RetryBudget(
      { ratio: terms.ratio, floorPerSecond: 1, savedMax: 100 },
      ports.clock.now(),
    );
  }

  /** How long a read of this service may take before another replica is asked. */
  afterMs(service: string): number {
    return this.#afterMs.get(service) ?? this.#terms.afterMsMax / 10;
  }

  call(request: RouterRequest): Promise<RouterAnswer> {
    if (request.mode !== "read" || request.replica !== undefined) return this.#router.call(request);
    const holders = this.#table.holders(request.service, request.shard);
    return holders.length < 2 ? this.#router.call(request) : this.#both(request);
  }

  async #both(request: RouterRequest): Promise<RouterAnswer> {
    const { service, shard, timeoutMs } = request;
    const began = this.#clock.now();
    this.#budget.deposit();
    const asked = this.#table.writer(service, shard)?.replica;
    const first = this.#router.call(request);
    const waitMs = this.afterMs(service);
    const early = await this.#within(first, waitMs);
    if (early !== undefined) {
      this.#learn(service, this.#clock.now() - began);
      return early;
    }
    const other = this.#table.holders(service, shard).find(({ replica }) => replica !== asked);
    const leftMs = timeoutMs - (this.#clock.now() - began);
    if (!other || !(leftMs > 0) || !this.#budget.withdraw(this.#clock.now())) return first;
    this.counts.sent++;
    const second = this.#router.call({ ...request, replica: other.replica, timeoutMs: leftMs });
    try {
      const answer = await Promise.any([first, second]);
      if (answer.replica === other.replica) this.counts.won++;
      this.#learn(service, this.#clock.now() - began);
      return answer;
    } catch {
      // Both failed. The first one's failure is the request's own; the second was an extra.
      return first;
    }
  }

  /** The answer, if it comes within that time; its failure is thrown. */
  async #within(answer: Promise<RouterAnswer>, ms: number): Promise<RouterAnswer | undefined> {
    let late: () => void = () => undefined;
    const timer = this.#clock.after(ms, () => late());
    try {
      return await Promise.race([
        answer,
        new Promise<undefined>((resolve) => {
          late = () => resolve(undefined);
        }),
      ]);
    } finally {
      timer.cancel();
    }
  }

  /** Moves the estimate up a long step or down a short one, so that it rests where the quantile is. */
  #learn(service: string, tookMs: number): void {
    const { quantile, afterMsMin, afterMsMax } = this.#terms;
    const known = this.afterMs(service);
    const step = Math.max(0.05, known * 0.05);
    const next = tookMs > known ? known + step * quantile : known - step * (1 - quantile);
    if (!this.#afterMs.has(service) && this.#afterMs.size >= SERVICES_MAX) return;
    this.#afterMs.set(service, Math.min(afterMsMax, Math.max(afterMsMin, next)));
  }
}
