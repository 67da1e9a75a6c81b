/**
 * What a fleet costs when nothing happens: the CPU of its nodes, all in this process, and what they ask of the store. Sessions are renewed per node and
 * never per shard, so neither figure should follow the number of shards.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { SystemClock, systemRandom } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import type { Bench } from "./bench.ts";
import { InProcessFleet } from "./in-process/fleet.ts";
import { CountingStore } from "./in-process/counting-store.ts";
import { storeOption, wholeNumber } from "./options.ts";
import { startStore } from "./store/bench-store.ts";

const HELD_WITHIN_MS = 120_000;
/** After the last move, until nothing is left over from it. */
const CALM_MS = 3_000;

const idle: Bench = {
  name: "idle",
  title: "what nodes cost while nothing happens: CPU, and writes to the store",
  async run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: {
        store: { type: "string", default: "embedded" },
        nodes: { type: "string", default: "100" },
        shards: { type: "string", default: "1000" },
        ttl: { type: "string", default: "10000" },
        seconds: { type: "string", default: "30" },
      },
    });
    const name = storeOption(values.store);
    const nodes = wholeNumber("nodes", values.nodes, 1, 1_000);
    const shards = wholeNumber("shards", values.shards, 1, 100_000);
    const ttlMs = wholeNumber("ttl", values.ttl, 500, 600_000);
    const seconds = wholeNumber("seconds", values.seconds, 1, 3_600);
    const server = await startStore(name, { progress: context.progress, fsync: true });
    try {
      const ports = { clock: new SystemClock(), random: systemRandom, name: "idle" };
      const store = new CountingStore(await openStore(server.url(server.port), ports));
      const fleet = new InProcessFleet({ stores: [store], fleet: "idle", nodes, shards, ttlMs });
      try {
        context.progress(`${nodes} nodes take ${shards} shards`);
        await fleet.start();
        await fleet.holds(shards, HELD_WITHIN_MS);
        await sleep(CALM_MS);
        context.progress(`nothing happens for ${seconds} s`);
        return { figures: { nodes, shards, ...(await watch(store, nodes, seconds)) }, peers: {} };
      } finally {
        fleet.stop();
        await store.close();
      }
    } finally {
      await server.stop();
    }
  },
};

export default idle;

async function watch(store: CountingStore, nodes: number, seconds: number): Promise<Record<string, number>> {
  const [cpu, began, before] = [process.cpuUsage(), performance.now(), store.counts];
  await sleep(seconds * 1_000);
  const { user, system } = process.cpuUsage(cpu);
  const lastedMs = performance.now() - began;
  const perNodePerSec = (count: number): number => count / nodes / (lastedMs / 1_000);
  const after = store.counts;
  return {
    clientCorePercent: ((user + system) / 1_000 / lastedMs) * 100,
    storeWritesPerNodePerSec: perNodePerSec(after.writes - before.writes),
    renewalsPerNodePerSec: perNodePerSec(after.renewals - before.renewals),
    readsPerNodePerSec: perNodePerSec(after.reads - before.reads),
  };
}
