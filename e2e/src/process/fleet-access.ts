/** A client of a fleet of real processes: it follows the store and asks nodes over TCP, as a gateway does. */
import { FleetClient, SystemClock, systemRandom } from "@keelson/runtime";
import { RemoteStore } from "@keelson/stores/embedded";
import { WirePool, WireTransport } from "@keelson/wire";

export interface FleetAccess {
  readonly client: FleetClient;
  ask(service: string, shard: string, method: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export function accessFleet(fleet: string, storeAddress: string): FleetAccess {
  const clock = new SystemClock();
  const random = systemRandom;
  const store = new RemoteStore({ address: storeAddress, clock, random });
  const pool = new WirePool({ clock, random, name: "e2e" });
  const client = new FleetClient({ fleet, store, clock, random, transport: new WireTransport(pool) });
  client.start();
  return {
    client,
    async ask(service, shard, method, body) {
      const mode = method === "add" ? "write" : "read";
      return (await client.call({ service, shard, method, mode, body, timeoutMs: 15_000 })).body;
    },
    async close() {
      client.stop();
      pool.close();
      await store.close();
    },
  };
}
