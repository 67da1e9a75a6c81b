/**
 * How long it takes until everything is held when a whole fleet starts at once. The fleet exists already: its era was opened before, by a node that has left,
 * because the very first era of a fleet waits one TTL whatever the nodes do.
 */
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
const GIVE_UP_MS = 60_000;

export async function coldStart({ store: url, nodes, shards, ttlMs }: ColdOptions): Promise<number> {
  const store = await openStore(url, { clock: new SystemClock(), random: systemRandom, name: "cold" });
  try {
    const first = new InProcessFleet({ store, fleet: FLEET, nodes: 1, shards: 1, ttlMs });
    await first.start();
    await first.leave();
    const fleet = new InProcessFleet({ store, fleet: FLEET, nodes, shards, ttlMs });
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
    await store.close();
  }
}
