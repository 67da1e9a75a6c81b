/** Gubernator's limits kept by the fleet: each limit by the shard that its name and key hash to, as upstream's peers own theirs. */
import { SERVICE, type ShardCalls } from "../client/shard-calls.ts";
import { refusedLimit, type RateLimitAnswer, type RateLimitRequest } from "./rate-limit.ts";

/** In the order of the requests. A shard that cannot be asked answers with an error for each of its limits, as upstream does. */
export async function checkRates(
  calls: ShardCalls,
  requests: readonly RateLimitRequest[],
  timeoutMs: number,
): Promise<readonly RateLimitAnswer[]> {
  const byShard = new Map<string, number[]>();
  for (const [index, { name, uniqueKey }] of requests.entries()) {
    const shard = calls.shardOf(`${name}_${uniqueKey}`);
    byShard.set(shard, [...(byShard.get(shard) ?? []), index]);
  }
  const answers: RateLimitAnswer[] = [];
  const asked = Array.from(byShard, async ([shard, indexes]) => {
    const body = { requests: indexes.map((index) => requests[index]) };
    let got: readonly RateLimitAnswer[];
    try {
      got = (await calls.byShard(shard, "write", "rates", body, {
        timeoutMs,
        idempotent: false,
      })) as readonly RateLimitAnswer[];
    } catch (error) {
      const problem = `while asking ${SERVICE}/${shard}: ${(error as Error).message}`;
      got = indexes.map(() => refusedLimit(problem));
    }
    for (const [at, index] of indexes.entries()) answers[index] = got[at] ?? refusedLimit("no answer");
  });
  await Promise.all(asked);
  return answers;
}

/** Shards are what upstream's peers are. */
export function limiterHealth({ map }: ShardCalls): { status: string; message: string; peerCount: number } {
  const peerCount = map.ranges.length;
  const isHealthy = peerCount > 0;
  return {
    status: isHealthy ? "healthy" : "unhealthy",
    message: isHealthy ? "" : "no shard of the job queue is known yet",
    peerCount,
  };
}
