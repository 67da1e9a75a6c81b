/** Producers that go on until they are told to stop, and remember what was acknowledged. */
import type { JobsClient } from "@keelson/jobs";

const PACE_MS = 10;

export interface LoadOptions {
  readonly lanes: number;
  readonly tenants: number;
  /** Jobs of a tenant that may run at once. */
  readonly limit: number;
}

export class Load {
  readonly acknowledged: { readonly tenant: string; readonly id: string }[] = [];
  readonly #producer: JobsClient;
  readonly #options: LoadOptions;
  readonly #lanes: Promise<unknown>[];
  readonly #stopping = new AbortController();

  constructor(producer: JobsClient, options: LoadOptions) {
    this.#producer = producer;
    this.#options = options;
    this.#lanes = Array.from({ length: options.lanes }, (_, lane) =>
      this.#produce(lane).catch((error: unknown) => error),
    );
  }

  /** Throws what a producer failed with. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const outcome of await Promise.all(this.#lanes)) if (outcome instanceof Error) throw outcome;
  }

  /** The results of all that was acknowledged, in order; waits for those that have not ended. */
  results(): Promise<unknown[]> {
    return Promise.all(this.acknowledged.map(({ tenant, id }) => this.#producer.job(id, tenant).result()));
  }

  /** What the witness's handler returns for each. */
  get expected(): string[] {
    return this.acknowledged.map(({ tenant, id }) => `${tenant}/${id}`);
  }

  async #produce(lane: number): Promise<void> {
    const { tenants, limit } = this.#options;
    const { signal } = this.#stopping;
    for (let count = 0; !signal.aborted; count += 1) {
      const tenant = `t${(count + lane) % tenants}`;
      const limits = [{ kind: "concurrency", key: "k", max: limit }] as const;
      // An enqueue whose answer is lost is repeated by the client under the same id.
      const job = await this.#producer.enqueue({
        group: "work",
        tenant,
        id: `${lane}-${count}`,
        limits,
        payload: count,
      });
      this.acknowledged.push({ tenant, id: job.id });
      await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    }
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
