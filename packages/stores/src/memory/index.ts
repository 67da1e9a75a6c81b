/** The memory store, and its engine for those who drive it in virtual time. */
export { StoreCore, type StoreCoreOptions, type StoreJournal, type StoreSnapshot } from "../core/index.ts";
export { MemoryStore, type MemoryStoreOptions } from "./memory-store.ts";
