import { RouterError } from "@keelson/runtime";
import type { BenchClient } from "./client.ts";

export interface LoadResult {
  readonly sent: number;
  readonly failed: number;
  /** Why, by code. */
  readonly failures: Readonly<Record<string, number>>;
  readonly latenciesMs: readonly number[];
}

const TICK_MS = 5;

/** Requests at a fixed rate whatever comes back (open loop), over all shards in turn, each with its own deadline. */
export async function openLoop(
  bench: BenchClient,
  options: { perSecond: number; shards: number; deadlineMs: number; until: Promise<void> },
): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const failures: Record<string, number> = {};
  const pending = new Set<Promise<void>>();
  const state = { over: false, sent: 0, failed: 0 };
  void options.until.finally(() => {
    state.over = true;
  });
  const began = bench.clock.now();
  const one = async (shard: string, due: number): Promise<void> => {
    try {
      await bench.client.call({
        service: "echo",
        shard,
        method: "who",
        mode: "read",
        body: null,
        timeoutMs: options.deadlineMs,
      });
      latenciesMs.push(bench.clock.now() - due);
    } catch (error) {
      const code = error instanceof RouterError ? error.code : String(error);
      failures[code] = (failures[code] ?? 0) + 1;
      state.failed++;
    }
  };
  while (!state.over) {
    const due = Math.floor(((bench.clock.now() - began) / 1000) * options.perSecond);
    for (; state.sent < due; state.sent++) {
      // A request counts from when it should have been sent: a stalled sender hides nothing.
      const dueAt = began + (state.sent * 1000) / options.perSecond;
      const work = one(String((state.sent * 7919) % options.shards), dueAt);
      pending.add(work);
      void work.finally(() => pending.delete(work));
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(pending);
  return { sent: state.sent, failed: state.failed, failures, latenciesMs };
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN;
}
