/** The fleet's admin straight from the store, for when no gateway runs or none can be reached. It reads everything once, and follows from there. */
import { terms } from "@keelson/kernel";
import {
  LocalAdmin,
  SystemClock,
  askOver,
  fleetMirror,
  systemRandom,
  type FleetAdmin,
} from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import { WirePool } from "@keelson/wire";

export interface OpenedAdmin {
  readonly admin: FleetAdmin;
  close(): Promise<void>;
}

export async function openStoreAdmin(url: string, fleet: string): Promise<OpenedAdmin> {
  const clock = new SystemClock();
  const random = systemRandom;
  const store = await openStore(url, { clock, random, name: "keelson command" });
  const pool = new WirePool({ clock, random, name: "keelson command" });
  const mirror = fleetMirror(fleet, { store, clock, random }, terms());
  const admin = new LocalAdmin({ fleet, mirror, store, clock, random, ask: askOver(pool) });
  mirror.start();
  return {
    admin,
    async close() {
      admin.close();
      mirror.stop();
      pool.close();
      await store.close();
    },
  };
}
