/** The embedded store: a folder of one machine, its lock, and its server for several processes. */
export { FolderError, type FolderErrorCode } from "../errors.ts";
export { EmbeddedStore, type EmbeddedOrigin, type EmbeddedStoreOptions } from "./embedded-store.ts";
export { FolderLock } from "./folder-lock.ts";
