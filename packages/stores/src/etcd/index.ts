/** The etcd store. */
export { EtcdStore } from "./etcd-store.ts";
export type { EtcdStoreOptions } from "./options.ts";
export type { TlsOptions } from "./grpc/target.ts";
