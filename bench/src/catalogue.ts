import type { Bench } from "./bench.ts";
import code from "./code.ts";
import codeFleet from "./code-fleet.ts";
import failover from "./failover.ts";
import faults from "./faults.ts";
import gateway from "./gateway.ts";
import idle from "./idle.ts";
import jobs from "./jobs.ts";
import jobsEngine from "./jobs-engine.ts";
import jobsOpen from "./jobs-open.ts";
import journal from "./journal.ts";
import placement from "./placement.ts";
import rolling from "./rolling.ts";
import routing from "./routing.ts";

/** Every bench there is, in the order of the list. */
export const benches: readonly Bench[] = [
  routing,
  placement,
  failover,
  rolling,
  faults,
  gateway,
  idle,
  journal,
  jobs,
  jobsEngine,
  jobsOpen,
  code,
  codeFleet,
];
