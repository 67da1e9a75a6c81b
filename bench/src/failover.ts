/**
 * How long a shard is without a holder when its node dies, and whether a planned drain is felt at all. Real processes, real sockets, a real store;
 * "held" means that the successor answered a request for the shard.
 */
import { parseArgs } from "node:util";
import { BenchClient, sleep } from "./failover/client.ts";
import { ProcessFleet } from "./failover/fleet.ts";
import { openLoop, quantile, type LoadResult } from "./failover/load.ts";

const NODES = ["a", "b", "c"] as const;
const SETTLE_MS = 60_000;

interface Context {
  readonly args: readonly string[];
  progress(text: string): void;
}

interface Figures {
  [key: string]: number;
}

export default {
  name: "failover",
  title: "time without a holder after kill -9 and SIGSTOP; planned drain under load",
  async run(context: Context): Promise<{ figures: Figures; peers: Record<string, Figures> }> {
    const { values } = parseArgs({
      args: [...context.args],
      options: {
        kills: { type: "string", default: "20" },
        stops: { type: "string", default: "20" },
        shards: { type: "string", default: "1000" },
        ttl: { type: "string", default: "2000" },
      },
    });
    const shards = Number(values.shards);
    const ttlMs = Number(values.ttl);
    const fleet = await ProcessFleet.onEmbedded({ fleet: "bench", shards, ttlMs });
    try {
      return {
        figures: await measure(context, fleet, {
          shards,
          ttlMs,
          kills: Number(values.kills),
          stops: Number(values.stops),
        }),
        peers: {},
      };
    } finally {
      await fleet.stop();
    }
  },
};

async function measure(
  context: Context,
  fleet: ProcessFleet,
  options: { shards: number; ttlMs: number; kills: number; stops: number },
): Promise<Figures> {
  const bench = await BenchClient.open(fleet.store, "bench", options.shards);
  try {
    context.progress("starting three nodes");
    await Promise.all(NODES.map((name) => fleet.start(name)));
    await bench.settled(NODES, SETTLE_MS);
    const killed = await losses(context, fleet, bench, options, "SIGKILL", options.kills);
    const stopped = await losses(context, fleet, bench, options, "SIGSTOP", options.stops);
    const drain = await drained(context, fleet, bench, options.shards);
    return {
      kills: options.kills,
      heldAfterTtlMsP50: quantile(killed, 0.5),
      heldAfterTtlMsP99: quantile(killed, 0.99),
      heldAfterTtlMsMax: Math.max(...killed),
      stops: options.stops,
      stoppedHeldAfterTtlMsP99: quantile(stopped, 0.99),
      drainShards: drain.shards,
      drainMs: drain.drainMs,
      drainRequests: drain.load.sent,
      drainFailed: drain.load.failed,
      drainP50Ms: quantile(drain.load.latenciesMs, 0.5),
      drainP99Ms: quantile(drain.load.latenciesMs, 0.99),
    };
  } finally {
    await bench.close();
  }
}

/** Loses a node again and again at random points of its renewal period; each shard's wait, less the TTL. */
async function losses(
  context: Context,
  fleet: ProcessFleet,
  bench: BenchClient,
  { ttlMs }: { ttlMs: number },
  signal: "SIGKILL" | "SIGSTOP",
  times: number,
): Promise<number[]> {
  const waits: number[] = [];
  for (let i = 0; i < times; i++) {
    const victim = NODES[i % NODES.length]!;
    await sleep(Math.random() * (ttlMs / 5));
    const shards = bench.heldBy(victim);
    const at = bench.clock.now();
    fleet.signal(victim, signal);
    const answers = await Promise.all(
      shards.map((shard) => bench.answered(shard, victim, at + ttlMs + 10_000)),
    );
    for (const answer of answers) waits.push(answer - at - ttlMs);
    context.progress(
      `${signal} ${i + 1} of ${times}: ${shards.length} shards, slowest ${Math.round(Math.max(...answers) - at - ttlMs)} ms after the TTL`,
    );
    if (signal === "SIGSTOP") {
      fleet.signal(victim, "SIGCONT");
    } else await fleet.start(victim);
    await bench.settled(NODES, SETTLE_MS);
  }
  return waits;
}

async function drained(
  context: Context,
  fleet: ProcessFleet,
  bench: BenchClient,
  shards: number,
): Promise<{ shards: number; drainMs: number; load: LoadResult }> {
  context.progress("draining a node under 2,000 requests a second");
  const victim = NODES.map((name) => ({ name, held: bench.heldBy(name).length })).sort(
    (a, b) => b.held - a.held,
  )[0]!;
  let drainMs = 0;
  const script = async (): Promise<void> => {
    await sleep(2_000);
    const at = bench.clock.now();
    await fleet.drain(victim.name);
    drainMs = bench.clock.now() - at;
    await sleep(1_000);
  };
  const load = await openLoop(bench, { perSecond: 2_000, shards, deadlineMs: 1_000, until: script() });
  for (const [code, count] of Object.entries(load.failures))
    context.progress(`${count} requests failed with ${code}`);
  return { shards: victim.held, drainMs, load };
}
