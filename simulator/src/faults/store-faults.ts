import type { Random } from "@keelson/kernel";
import { chance, magnitude } from "../chance/draw.ts";
import type { Recovery, StoreServer } from "../store-server.ts";
import type { FaultKind } from "./fault.ts";

export type StoreFaultKind = Extract<FaultKind, `store-${string}`>;

/** A failure of the store as drawn. It goes down `leadMs` after it was drawn: writes of that time are what a loss loses. */
export interface DrawnStoreFault {
  readonly detail: string;
  readonly leadMs: number;
  readonly downMs: number;
  readonly refuses: boolean;
  readonly recovery: Recovery;
}

export function drawStoreFault(
  kind: StoreFaultKind,
  server: StoreServer,
  ttlMs: number,
  random: Random,
): DrawnStoreFault {
  const refuses = chance(random, 0.5);
  const long = magnitude(random, [0.05 * ttlMs, 3 * ttlMs]);
  const short = magnitude(random, [10, 0.2 * ttlMs]);
  const lossMs = magnitude(random, [10, ttlMs]);
  const how = refuses ? "refusing" : "silent";
  switch (kind) {
    case "store-outage":
      return { detail: how, leadMs: 0, downMs: long, refuses, recovery: { kind: "kept" } };
    case "store-restart":
      return { detail: how, leadMs: 0, downMs: short, refuses, recovery: { kind: "kept" } };
    case "store-lost":
    case "store-lost-silently":
      return {
        detail: `${how}, loses the last ${Math.round(lossMs)} ms`,
        leadMs: lossMs,
        downMs: short,
        refuses,
        recovery: { kind: kind === "store-lost" ? "lost" : "lost-silently", snapshot: server.snapshot() },
      };
    case "store-total":
      return { detail: how, leadMs: 0, downMs: short, refuses, recovery: { kind: "total" } };
  }
}
