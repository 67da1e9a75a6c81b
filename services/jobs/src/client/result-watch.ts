/**
 * Waits for jobs to end, by push: jobs that are awaited in one turn and lie on one shard share a stream, which is opened again for those that are left when the
 * shard moves or the connection is lost. Nothing polls.
 */
import type { ResultItem } from "../shard/protocol.ts";
import { Batcher } from "./batcher.ts";
import { JobsError } from "./errors.ts";
import { isPassing, pause, type ShardCalls } from "./shard-calls.ts";
import { RouterError } from "@keelson/runtime";

interface Awaited {
  readonly tenant: string;
  readonly id: string;
  readonly settle: (item: ResultItem | Error) => void;
}

const REOPEN_PAUSE_MS = 100;

export class ResultWatch {
  readonly #calls: ShardCalls;
  readonly #signal: AbortSignal;
  readonly #batcher: Batcher<Awaited, undefined>;

  constructor(calls: ShardCalls, signal: AbortSignal) {
    this.#calls = calls;
    this.#signal = signal;
    this.#batcher = new Batcher((items) => this.#start(items), { inflightMax: 1_000, itemsMax: 1_000 });
  }

  wait(tenant: string, id: string): Promise<ResultItem> {
    return new Promise((resolve, reject) => {
      const settle = (item: ResultItem | Error): void =>
        item instanceof Error ? reject(item) : resolve(item);
      this.#batcher.add({ tenant, id, settle }, 100).catch(reject);
    });
  }

  /** The batch is sent once the streams are opening; the ends come when they come. */
  #start(items: readonly Awaited[]): Promise<undefined[]> {
    void this.#follow(new Map(items.map((each) => [keyOf(each), each])));
    return Promise.resolve(items.map(() => undefined));
  }

  async #follow(open: Map<string, Awaited>): Promise<void> {
    while (open.size > 0) {
      if (this.#signal.aborted) return settleAll(open, new JobsError("CLOSED", "the client was closed"));
      const byShard = new Map<string, Awaited[]>();
      for (const each of open.values()) {
        const shard = this.#calls.map.of(each.tenant);
        if (shard !== undefined) byShard.set(shard, [...(byShard.get(shard) ?? []), each]);
      }
      // oxlint-disable-next-line no-await-in-loop -- what is left is asked for again.
      const ends = await Promise.all([...byShard].map(([shard, jobs]) => this.#read(shard, jobs, open)));
      const fatal = ends.find((end) => end !== undefined);
      if (fatal !== undefined) return settleAll(open, fatal);
      // oxlint-disable-next-line no-await-in-loop -- as above.
      if (open.size > 0) await pause(REOPEN_PAUSE_MS, this.#signal);
    }
  }

  /** Undefined, or why asking again would not help. */
  async #read(
    shard: string,
    jobs: readonly Awaited[],
    open: Map<string, Awaited>,
  ): Promise<Error | undefined> {
    const body = { jobs: jobs.map(({ tenant, id }) => ({ tenant, id })) };
    try {
      for await (const raw of this.#calls.stream(shard, "results", body, this.#signal)) {
        for (const item of raw as readonly ResultItem[]) {
          open.get(keyOf(item))?.settle(item);
          open.delete(keyOf(item));
        }
      }
      return undefined;
    } catch (error) {
      if (isPassing(error) || this.#signal.aborted) return undefined;
      if (error instanceof RouterError && error.code !== "INVALID" && error.code !== "INTERNAL")
        return undefined;
      return error as Error;
    }
  }
}

function settleAll(open: ReadonlyMap<string, Awaited>, error: Error): void {
  for (const { settle } of open.values()) settle(error);
}

function keyOf({ tenant, id }: { readonly tenant: string; readonly id: string }): string {
  return `${tenant}\n${id}`;
}
