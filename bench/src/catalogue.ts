import type { Bench } from "./bench.ts";
import failover from "./failover.ts";
import faults from "./faults.ts";
import idle from "./idle.ts";
import journal from "./journal.ts";
import placement from "./placement.ts";
import routing from "./routing.ts";

/** Every bench there is, in the order of the list. */
export const benches: readonly Bench[] = [routing, placement, failover, faults, idle, journal];
