/**
 * A steady stream of requests to random shards: one in four adds to a counter, the others read one. It keeps count of what was answered, what
 * failed and when, and of every addition that was acknowledged, so that at the end nothing can have got lost unseen.
 */
import type { FleetClient } from "@keelson/runtime";
import { SERVICE } from "./stage.ts";

export interface TrafficOptions {
  readonly client: FleetClient;
  readonly shards: readonly string[];
  readonly perSecond: number;
  /** How long a caller waits for its answer. */
  readonly timeoutMs: number;
}

/** One bar of the history: what ended in that piece of time. */
export interface Bucket {
  readonly ok: Map<string, number>;
  failed: number;
}

export interface Failed {
  readonly sentAt: number;
  readonly failedAt: number;
  readonly why: string;
}

export interface Ledger {
  /** Additions that were acknowledged. */
  acknowledged: number;
  /** Additions that may have been carried out: no answer came. */
  unknown: number;
}

export const BUCKET_MS = 250;
const TICK_MS = 10;
const BUCKETS_MAX = 400;
const FAILURES_MAX = 10_000;

export class Traffic {
  readonly buckets: Bucket[] = [];
  readonly failures: Failed[] = [];
  readonly ledgers: ReadonlyMap<string, Ledger>;
  ok = 0;
  failed = 0;
  waiting = 0;
  sent = 0;

  readonly #options: TrafficOptions;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #closedBuckets = 0;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.ledgers = new Map(options.shards.map((shard) => [shard, { acknowledged: 0, unknown: 0 }]));
  }

  get perSecond(): number {
    return this.#options.perSecond;
  }

  start(): void {
    this.#startedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Sends nothing more, and waits for the answers that are still out. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const deadline = performance.now() + 2 * this.#options.timeoutMs;
    while (this.waiting > 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }

  /** Answers per second over the last second, in all and by node. */
  rate(node?: string): number {
    const last = this.buckets.slice(-1 - 1_000 / BUCKET_MS, -1);
    const count = (bucket: Bucket): number =>
      node === undefined ? sum(bucket.ok.values()) : (bucket.ok.get(node) ?? 0);
    return sum(last.map(count)) * (1_000 / BUCKET_MS / Math.max(1, last.length));
  }

  /** Requests that failed and were under way at some moment of this time. */
  failedBetween(fromMs: number, toMs: number): Failed[] {
    return this.failures.filter(({ sentAt, failedAt }) => failedAt >= fromMs && sentAt <= toMs);
  }

  #tick(): void {
    const elapsedMs = performance.now() - this.#startedAt;
    while (this.#closedBuckets * BUCKET_MS <= elapsedMs) {
      this.#closedBuckets++;
      this.buckets.push({ ok: new Map(), failed: 0 });
      if (this.buckets.length > BUCKETS_MAX) this.buckets.shift();
    }
    const due = Math.floor((elapsedMs / 1_000) * this.#options.perSecond);
    while (this.sent < due) void this.#send(this.sent++);
  }

  async #send(n: number): Promise<void> {
    const { client, shards, timeoutMs } = this.#options;
    const shard = shards[Math.floor(Math.random() * shards.length)] as string;
    const write = n % 4 === 0;
    const ledger = this.ledgers.get(shard) as Ledger;
    const sentAt = performance.now();
    this.waiting++;
    try {
      const { node } = await client.call({
        service: SERVICE,
        shard,
        method: write ? "add" : "get",
        mode: write ? "write" : "read",
        body: 1,
        timeoutMs,
      });
      this.ok++;
      if (write) ledger.acknowledged++;
      const bucket = this.buckets.at(-1);
      bucket?.ok.set(node, (bucket.ok.get(node) ?? 0) + 1);
    } catch (error) {
      this.failed++;
      if (write) ledger.unknown++;
      const bucket = this.buckets.at(-1);
      if (bucket) bucket.failed++;
      const why = error instanceof Error ? error.message : String(error);
      if (this.failures.length < FAILURES_MAX)
        this.failures.push({ sentAt, failedAt: performance.now(), why });
    } finally {
      this.waiting--;
    }
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
