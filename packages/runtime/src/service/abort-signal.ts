import type { AbortSignalLike } from "@keelson/kernel";

/** A platform AbortSignal for what a shard calls (fetch, timers, streams), aborted when the given one is. */
export function abortSignal(signal: AbortSignalLike): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort();
  else signal.addEventListener("abort", () => controller.abort(), { once: true });
  return controller.signal;
}
