/** A test fleet, wrappers that disturb any port call, and the contract suites. */
export { ManualClock } from "./manual-clock.ts";
export { TestFleet, type TestFleetOptions } from "./fleet/test-fleet.ts";
