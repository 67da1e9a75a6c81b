/** What can be done to a fleet of real processes, as data: drawn from a seed by the schedule, carried out by the injector. */
import type { Direction } from "@keelson/testkit";

/** Both ways, or only requests (`up`) or only replies (`down`). */
export type Ways = Direction | "both";

export type Fault =
  /** SIGKILL; started again after `downMs`, with its note of its former sessions or without. */
  | { readonly kind: "kill"; readonly node: number; readonly downMs: number; readonly remembers: boolean }
  /** SIGSTOP, then SIGCONT. */
  | { readonly kind: "stop"; readonly node: number; readonly lastsMs: number }
  /** Bytes between node and store vanish. */
  | { readonly kind: "black-hole"; readonly node: number; readonly lastsMs: number; readonly ways: Ways }
  /** Bytes between node and store wait, and all arrive late. */
  | { readonly kind: "hold"; readonly node: number; readonly lastsMs: number; readonly ways: Ways }
  /** All connections of the node to the store are cut after so many more bytes of replies. */
  | { readonly kind: "cut"; readonly node: number; readonly bytes: number }
  /** The node's wall clock leaps; its monotonic clock does not. */
  | { readonly kind: "clock-jump"; readonly node: number; readonly seconds: number }
  /** The store is killed and started again with its data. */
  | { readonly kind: "store-restart"; readonly downMs: number };

export type FaultKind = Fault["kind"];

export interface ScheduledFault {
  readonly atMs: number;
  readonly fault: Fault;
}

export function describeFault(fault: Fault): string {
  const ms = (value: number): string => `${Math.round(value)} ms`;
  switch (fault.kind) {
    case "kill":
      return `kill, down for ${ms(fault.downMs)}${fault.remembers ? "" : ", forgets its sessions"}`;
    case "stop":
      return `stop for ${ms(fault.lastsMs)}`;
    case "black-hole":
    case "hold":
      return `${fault.kind} (${fault.ways}) for ${ms(fault.lastsMs)}`;
    case "cut":
      return `cut after ${fault.bytes} bytes of replies`;
    case "clock-jump":
      return `clock jump by ${fault.seconds} s`;
    case "store-restart":
      return `store restart, down for ${ms(fault.downMs)}`;
  }
}
