/**
 * A rolling restart of five nodes under load: does any request fail, and how often does a shard move? Real processes on a real etcd. Without a spare node the
 * least possible is 1.2 moves per shard: the first node's shards go to nodes that are restarted later, and everything moves once. The last node then comes back
 * empty; what fills it again, once all is calm, is counted apart.
 */
import { parseArgs } from "node:util";
import type { Bench, BenchContext } from "./bench.ts";
import { BenchClient, sleep } from "./failover/client.ts";
import { ProcessFleet } from "./failover/fleet.ts";
import { openLoop, quantile, type LoadResult } from "./failover/load.ts";
import { storeOption, wholeNumber } from "./options.ts";
import { MoveCounter } from "./rolling/moves.ts";
import { startStore, type StoreName } from "./store/bench-store.ts";

const NODES = ["a", "b", "c", "d", "e"] as const;
const PLACEMENTS = ["balanced", "ring"] as const;
type PlacementName = (typeof PLACEMENTS)[number];

const SETTLE_MS = 60_000;
/** Between two nodes: until nothing has moved for so long. */
const STILL_MS = 1_500;
/** In the end: `balanced` waits 10 s for calm before it moves for balance, and 5 s between rounds. */
const CALM_MS = 16_000;
/** What a client that means to be answered would allow. */
const DEADLINE_MS = 5_000;
/** The bounds. */
const MOVES_MAX: Readonly<Record<PlacementName, number>> = { balanced: 1.25, ring: 2.1 };

interface RollingOptions {
  readonly store: StoreName;
  readonly shards: number;
  readonly ttlMs: number;
  readonly perSecond: number;
}

interface Rolled {
  readonly movesPerShard: number;
  readonly movesPerShardWithLastFill: number;
  readonly load: LoadResult;
  readonly restartMs: number;
}

const rolling: Bench = {
  name: "rolling",
  title: "rolling restart of five node processes under load: failed requests, moves per shard",
  async run(context) {
    const options = readOptions(context.args);
    const store = await startStore(options.store, { progress: context.progress, fsync: true });
    const rolled: Partial<Record<PlacementName, Rolled>> = {};
    try {
      for (const placement of PLACEMENTS)
        rolled[placement] = await roll(context, store.url(store.port), placement, options);
    } finally {
      await store.stop();
    }
    const { balanced, ring } = rolled as Record<PlacementName, Rolled>;
    const failed = balanced.load.failed + ring.load.failed;
    const broken = PLACEMENTS.flatMap((placement) => {
      const { movesPerShard } = rolled[placement]!;
      return movesPerShard > MOVES_MAX[placement]
        ? [`${placement} moved each shard ${movesPerShard.toFixed(3)} times, above ${MOVES_MAX[placement]}`]
        : [];
    });
    if (failed > 0) broken.push(`${failed} requests failed`);
    return {
      figures: {
        nodes: NODES.length,
        shards: options.shards,
        requests: balanced.load.sent + ring.load.sent,
        failed,
        movesPerShard: balanced.movesPerShard,
        movesPerShardRing: ring.movesPerShard,
        movesPerShardWithLastFill: balanced.movesPerShardWithLastFill,
        p50Ms: quantile(balanced.load.latenciesMs, 0.5),
        p99Ms: quantile(balanced.load.latenciesMs, 0.99),
        p99MsRing: quantile(ring.load.latenciesMs, 0.99),
        restartMs: balanced.restartMs,
        restartMsRing: ring.restartMs,
      },
      peers: {},
      broken,
    };
  },
};

export default rolling;

function readOptions(args: readonly string[]): RollingOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string", default: "etcd" },
      shards: { type: "string", default: "500" },
      ttl: { type: "string", default: "10000" },
      rate: { type: "string", default: "1000" },
    },
  });
  return {
    store: storeOption(values.store),
    shards: wholeNumber("shards", values.shards, NODES.length, 100_000),
    ttlMs: wholeNumber("ttl", values.ttl, 500, 60_000),
    perSecond: wholeNumber("rate", values.rate, 1, 100_000),
  };
}

async function roll(
  context: BenchContext,
  store: string,
  placement: PlacementName,
  { shards, ttlMs, perSecond }: RollingOptions,
): Promise<Rolled> {
  const fleetName = `rolling-${placement}`;
  const fleet = new ProcessFleet({ store, fleet: fleetName, shards, ttlMs, placement });
  const bench = await BenchClient.open(store, fleetName, shards);
  const counter = new MoveCounter(fleetName, bench.client, () => bench.clock.now());
  try {
    context.progress(`${placement}: starting ${NODES.length} nodes for ${shards} shards`);
    await Promise.all(NODES.map((name) => fleet.start(name)));
    await bench.settled(NODES, SETTLE_MS);
    await counter.still(placement === "balanced" ? CALM_MS : STILL_MS, SETTLE_MS * 2);
    counter.reset();
    const from = bench.clock.now();
    let restartMs = 0;
    const script = async (): Promise<void> => {
      await sleep(1_000);
      for (const name of NODES) {
        await fleet.drain(name);
        await fleet.start(name);
        await counter.still(STILL_MS, SETTLE_MS);
        context.progress(`${placement}: ${name} was restarted; ${counter.moves} moves so far`);
      }
      restartMs = bench.clock.now() - from;
    };
    const load = await openLoop(bench, { perSecond, shards, deadlineMs: DEADLINE_MS, until: script() });
    for (const [code, count] of Object.entries(load.failures))
      context.progress(`${placement}: ${count} requests failed with ${code}`);
    const movesPerShard = counter.moves / shards;
    await counter.still(CALM_MS, SETTLE_MS * 2);
    context.progress(
      `${placement}: ${counter.moves} moves in all, ${load.failed} of ${load.sent} requests failed`,
    );
    return { movesPerShard, movesPerShardWithLastFill: counter.moves / shards, load, restartMs };
  } finally {
    await bench.close();
    await fleet.stop();
  }
}
