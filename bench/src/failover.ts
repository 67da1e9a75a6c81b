/**
 * How long a shard is without a holder when its node dies, and whether a planned drain is felt at all. Real processes, real sockets, a real store;
 * "held" means that the successor answered a request for the shard.
 */
import { parseArgs } from "node:util";
import type { Bench, BenchContext, BenchResult } from "./bench.ts";
import { BenchClient, sleep } from "./failover/client.ts";
import { coldStart } from "./failover/cold.ts";
import { effectLosses } from "./failover/effect-peer.ts";
import { ProcessFleet } from "./failover/fleet.ts";
import { openLoop, quantile, type LoadResult } from "./failover/load.ts";
import { badOption, storeOption, wholeNumber } from "./options.ts";
import { startStore, type StoreName } from "./store/bench-store.ts";

const NODES = ["a", "b", "c"] as const;
const SETTLE_MS = 60_000;

/** Of the whole fleet's cold start. */
const COLD = { nodes: 50, shards: 10_000 };
/** The drain is measured on a node that holds about as many. */
const DRAIN_SHARDS = 300;

interface FailoverOptions {
  readonly store: StoreName;
  readonly shards: number;
  readonly ttlMs: number;
  readonly kills: number;
  readonly stops: number;
  /** Also measures @effect/cluster. */
  readonly peers: boolean;
}

/** Kills of a peer's node: with its defaults each takes most of a minute. */
const PEER_KILLS = 3;

const failover: Bench = {
  name: "failover",
  title: "time without a holder after kill -9 and SIGSTOP; planned drain under load; cold start",
  async run(context) {
    const options = readOptions(context.args);
    const store = await startStore(options.store, { progress: context.progress, fsync: true });
    const url = store.url(store.port);
    const fleet = new ProcessFleet({
      store: url,
      fleet: "bench",
      shards: options.shards,
      ttlMs: options.ttlMs,
    });
    try {
      const figures = await measure(context, fleet, url, options);
      await fleet.stop();
      context.progress(`starting ${COLD.nodes} nodes in this process, for ${COLD.shards} shards`);
      const coldMs = await coldStart({ store: url, ttlMs: options.ttlMs, ...COLD });
      return {
        figures: { ...figures, coldMs },
        peers: options.peers ? await peers(context, url, options) : {},
      };
    } finally {
      await fleet.stop();
      await store.stop();
    }
  },
};

export default failover;

function readOptions(args: readonly string[]): FailoverOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string", default: "embedded" },
      kills: { type: "string", default: "20" },
      stops: { type: "string", default: "20" },
      shards: { type: "string", default: "1000" },
      ttl: { type: "string", default: "2000" },
      peers: { type: "boolean", default: false },
    },
  });
  const store = storeOption(values.store);
  if (values.peers && store !== "postgres")
    throw badOption("--peers goes with --store postgres: that is where the peer keeps its locks");
  return {
    store,
    peers: values.peers,
    kills: wholeNumber("kills", values.kills, 0, 10_000),
    stops: wholeNumber("stops", values.stops, 0, 10_000),
    shards: wholeNumber("shards", values.shards, NODES.length, 100_000),
    ttlMs: wholeNumber("ttl", values.ttl, 500, 60_000),
  };
}

async function measure(
  context: BenchContext,
  fleet: ProcessFleet,
  store: string,
  options: FailoverOptions,
): Promise<BenchResult["figures"]> {
  const bench = await BenchClient.open(store, "bench", options.shards);
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

/** @effect/cluster on the same Postgres: as it comes, and with its times set to ours. */
async function peers(
  { progress }: BenchContext,
  postgres: string,
  { ttlMs }: FailoverOptions,
): Promise<BenchResult["peers"]> {
  const renewMs = ttlMs / 5;
  const settings = {
    effectDefaults: {},
    effectOurTimes: {
      shardLockExpiration: ttlMs,
      shardLockRefreshInterval: renewMs,
      refreshAssignmentsInterval: renewMs,
      runnerHealthCheckInterval: renewMs,
    },
  };
  const results: Record<string, Record<string, number>> = {};
  for (const [peer, sharding] of Object.entries(settings)) {
    progress(`${peer}: three runners of @effect/cluster`);
    const waits = await effectLosses({ postgres, kills: PEER_KILLS, ttlMs, sharding, progress });
    results[peer] = {
      kills: PEER_KILLS,
      heldAfterTtlMsP50: quantile(waits, 0.5),
      heldAfterTtlMsP99: quantile(waits, 0.99),
      heldAfterTtlMsMax: Math.max(...waits),
    };
  }
  return results;
}

/** Loses a node again and again at random points of its renewal period; each shard's wait, less the TTL. */
async function losses(
  context: BenchContext,
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
  context: BenchContext,
  fleet: ProcessFleet,
  bench: BenchClient,
  shards: number,
): Promise<{ shards: number; drainMs: number; load: LoadResult }> {
  context.progress("draining a node under 2,000 requests a second");
  const nodes = NODES.map((name) => ({ name, held: bench.heldBy(name).length })).toSorted(
    (a, b) => a.held - b.held,
  );
  const victim = nodes.find(({ held }) => held >= DRAIN_SHARDS) ?? nodes.at(-1)!;
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
