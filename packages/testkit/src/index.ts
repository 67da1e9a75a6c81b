/** A test fleet, wrappers that disturb any port call, and the contract suites. */
export { FaultRule, type Fault, type FaultRuleOptions, type FaultSide } from "./fault-rule.ts";
export { FaultyStore, type StoreCall, type StoreCallSubject, type StoreFaultRule } from "./faulty-store.ts";
export { ManualClock } from "./manual-clock.ts";
export { TestFleet, type TestFleetOptions } from "./fleet/test-fleet.ts";
export { TcpProxy, type Direction, type Passage } from "./tcp-proxy.ts";
export { ScriptedTransport, type ScriptedAnswer, type SentRequest } from "./scripted-transport.ts";
