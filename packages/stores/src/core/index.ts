/** The synchronous engine under the memory and the embedded store. */
export { CORE_LIMITS } from "./limits.ts";
export type { SessionSnapshot, StoreSnapshot } from "./snapshot.ts";
export { StoreCore, type CoreRangeOptions, type StoreCoreOptions, type StoreJournal } from "./store-core.ts";
