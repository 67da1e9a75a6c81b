/** Events of all shards as one stream. A shard that moves is asked again; what happened in between is lost, as events are. */
import type { EventsOpen, JobEvent } from "../shard/protocol.ts";
import { pause, type ShardCalls } from "./shard-calls.ts";

const REOPEN_PAUSE_MS = 200;
const BUFFER_MAX = 10_000;

export async function* followEvents(
  calls: ShardCalls,
  filter: EventsOpen,
  closed: AbortSignal,
): AsyncGenerator<JobEvent> {
  const left = new AbortController();
  const signal = AbortSignal.any([closed, left.signal]);
  const buffer: JobEvent[] = [];
  let wake: () => void = () => undefined;
  let missed = 0;
  const take = (event: JobEvent): void => {
    if (buffer.length < BUFFER_MAX) buffer.push(event);
    else missed += 1;
    wake();
  };
  const shards =
    filter.tenant === undefined ? calls.map.ranges.map(({ id }) => id) : [calls.shardOf(filter.tenant)];
  for (const shard of shards) void readShard(calls, shard, filter, signal, take);
  signal.addEventListener("abort", () => wake(), { once: true });
  try {
    while (!signal.aborted) {
      const event = buffer.shift();
      if (event !== undefined) yield event;
      else if (missed > 0) {
        yield { kind: "missed", count: missed };
        missed = 0;
      } else
        // oxlint-disable-next-line no-await-in-loop -- until something comes.
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    left.abort();
  }
}

async function readShard(
  calls: ShardCalls,
  shard: string,
  filter: EventsOpen,
  signal: AbortSignal,
  take: (event: JobEvent) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one stream after another.
      for await (const batch of calls.stream(shard, "events", filter, signal))
        for (const event of batch as readonly JobEvent[]) take(event);
    } catch {
      // It moved, or was cut off: both are mended by asking again, and nobody waits for an answer here.
    }
    // oxlint-disable-next-line no-await-in-loop -- as above.
    await pause(REOPEN_PAUSE_MS, signal);
  }
}
