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
import { openTls, openedWith, type TlsSettings } from "../config/tls.ts";

export interface OpenedAdmin {
  readonly admin: FleetAdmin;
  close(): Promise<void>;
}

export async function openStoreAdmin(
  url: string,
  fleet: string,
  settings: TlsSettings,
): Promise<OpenedAdmin> {
  const clock = new SystemClock();
  const random = systemRandom;
  const tls = openTls(settings, { clock, say: () => undefined, problem: () => undefined });
  const ports = { clock, random, name: "keelson command", ...tls?.client };
  const store = await openedWith(tls, openStore(url, ports));
  const pool = new WirePool(ports);
  const mirror = fleetMirror(fleet, { store, clock, random }, terms());
  const admin = new LocalAdmin({ fleet, mirror, store, clock, random, ask: askOver(pool) });
  mirror.start();
  return {
    admin,
    async close() {
      admin.close();
      mirror.stop();
      pool.close();
      tls?.stop();
      await store.close();
    },
  };
}
