/** The Redis store. */
export { RedisStore } from "./redis-store.ts";
export type { RedisStoreOptions, RedisTlsOptions } from "./options.ts";
