/** The Postgres store. */
export { PostgresStore } from "./postgres-store.ts";
export type { PostgresStoreOptions, PostgresTlsOptions } from "./options.ts";
