/** The embedded store: a folder of one machine, its lock, and the server and client for several processes. */
export { FolderError, type FolderErrorCode } from "../errors.ts";
export { RemoteStore, type RemoteStoreOptions } from "../remote/remote-store.ts";
export { StoreServer, type StoreServerOptions } from "../remote/store-server.ts";
export { EmbeddedStore, type EmbeddedOrigin, type EmbeddedStoreOptions } from "./embedded-store.ts";
export { FolderLock } from "./folder-lock.ts";
