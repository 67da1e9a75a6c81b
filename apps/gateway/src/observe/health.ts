/** How a gateway is, for probes and for people: alive, ready, and since when it has been cut off. */
import type { FleetLink } from "@keelson/runtime";

export interface Health {
  /** `stale`: it goes on with what it knew, because nothing tells it of changes. */
  readonly status: "ok" | "stale" | "starting" | "stopping";
  /** Whether requests should be sent here. A stale gateway still routes. */
  readonly ready: boolean;
  /** Whose copy it follows: a node's address, or "store". */
  readonly follows: string | null;
  /** For how long nothing was heard of the fleet's state; null before anything was. */
  readonly staleMs: number | null;
  readonly fleet: string;
}

/** A node says every second whether it follows the store. */
const STALE_MS = 5_000;

export function healthOf(fleet: string, { copy }: Pick<FleetLink, "copy">, stopping: boolean): Health {
  const { staleMs, source } = copy;
  const known = copy.image.incarnation !== undefined;
  const about = { fleet, follows: source ?? null, staleMs: known ? Math.round(staleMs) : null };
  if (stopping) return { ...about, status: "stopping", ready: false };
  if (!known) return { ...about, status: "starting", ready: false };
  return { ...about, status: staleMs > STALE_MS ? "stale" : "ok", ready: true };
}
