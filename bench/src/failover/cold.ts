/**
 * How long it takes until everything is held when a whole fleet starts at once. The fleet exists already: its era was opened before, by a node that has left,
 * because the very first era of a fleet waits one TTL whatever the nodes do.
 */
import type { Store } from "@keelson/kernel";
import { SystemClock, systemRandom } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import { InProcessFleet } from "../in-process/fleet.ts";

export interface ColdOptions {
  readonly store: string;
  readonly nodes: number;
  readonly shards: number;
  readonly ttlMs: number;
}

const FLEET = "cold";
/** Fifty nodes on one connection would wait for each other, which nodes of a real fleet do not. */
const CLIENTS = 8;
const GIVE_UP_MS = 60_000;

export async function coldStart({ store: url, nodes, shards, ttlMs }: ColdOptions): Promise<number> {
  const ports = { clock: new SystemClock(), random: systemRandom, name: "cold" };
  const stores: [Store, ...Store[]] = [await openStore(url, ports)];
  while (stores.length < CLIENTS) stores.push(await openStore(url, ports));
  try {
    const first = new InProcessFleet({ stores, fleet: FLEET, nodes: 1, shards: 1, ttlMs });
    await first.start();
    await first.leave();
    const fleet = new InProcessFleet({ stores, fleet: FLEET, nodes, shards, ttlMs });
    const began = performance.now();
    try {
      const started = fleet.start();
      await fleet.holds(shards, GIVE_UP_MS);
      const coldMs = performance.now() - began;
      await started;
      return coldMs;
    } finally {
      fleet.stop();
    }
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}
