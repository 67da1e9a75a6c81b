import type { Epoch } from "@keelson/kernel";
import { RouterError } from "./router-error.ts";
import type { Router, RouterRequest } from "./router.ts";

export interface ScatterOptions {
  /** For the whole of it, not for each part. */
  readonly timeoutMs: number;
  /** Requests under way at once; 64 when left out. */
  readonly concurrencyMax?: number;
}

/** One shard's answer. */
export interface Part {
  readonly shard: string;
  readonly epoch: Epoch;
  readonly body: unknown;
}

/** One shard that did not answer, and why. Never the same as having nothing: the caller must not take it for "not found". */
export interface MissingPart {
  readonly shard: string;
  readonly code: string;
  readonly why: string;
}

export interface Gathered<T> {
  /** Merged from the parts there are, in the order of the requests. */
  readonly value: T;
  readonly parts: readonly Part[];
  readonly missing: readonly MissingPart[];
  /** Some part is missing. */
  readonly partial: boolean;
}

/**
 * Asks many shards and merges what they answer, in the order of the requests, so that the same answers always merge alike. What fails or is
 * late is listed, not waited for and not hidden. Parts that were not even asked when time ran out are missing too.
 */
export async function scatter<T>(
  router: Pick<Router, "call" | "clock">,
  requests: readonly Omit<RouterRequest, "timeoutMs">[],
  merge: (parts: readonly Part[]) => T,
  options: ScatterOptions,
): Promise<Gathered<T>> {
  const deadline = router.clock.now() + options.timeoutMs;
  const results: (Part | MissingPart | undefined)[] = requests.map(() => undefined);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < requests.length; index = next++) {
      const request = requests[index] as Omit<RouterRequest, "timeoutMs">;
      // oxlint-disable-next-line no-await-in-loop -- that is how concurrency is bounded.
      results[index] = await ask(router, request, deadline - router.clock.now());
    }
  };
  const concurrency = Math.max(1, Math.min(options.concurrencyMax ?? 64, requests.length));
  await Promise.all(Array.from({ length: concurrency }, work));
  const parts = results.filter((result): result is Part => result !== undefined && "epoch" in result);
  const missing = results.filter((result): result is MissingPart => result !== undefined && "why" in result);
  return { value: merge(parts), parts, missing, partial: missing.length > 0 };
}

async function ask(
  router: Pick<Router, "call">,
  request: Omit<RouterRequest, "timeoutMs">,
  leftMs: number,
): Promise<Part | MissingPart> {
  const { shard } = request;
  if (leftMs <= 0)
    return {
      shard,
      code: "TIMEOUT",
      why: "time ran out before it was asked: allow more time, or more at once",
    };
  try {
    const { epoch, body } = await router.call({ ...request, timeoutMs: leftMs });
    return { shard, epoch, body };
  } catch (error) {
    if (error instanceof RouterError) return { shard, code: error.code, why: error.message };
    throw error;
  }
}
