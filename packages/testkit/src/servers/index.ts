/** Real servers for tests: started on free loopback ports in temporary folders, and stopped by process id. */
export {
  ServersMissingError,
  ensureServers,
  missingServers,
  requireProgram,
  whatToInstall,
  type ServerName,
} from "./debian.ts";
export { makeCertificates, type TestCertificates } from "./certificates.ts";
export { startCephRgw, type S3TestServer } from "./ceph-rgw.ts";
export { etcdctl, startEtcd, startEtcdCluster, type EtcdOptions } from "./etcd.ts";
export { startNginx } from "./nginx.ts";
export { startPgBouncer } from "./pgbouncer.ts";
export {
  startPostgres,
  startPostgresStandby,
  type PostgresOptions,
  type PostgresStandby,
} from "./postgres.ts";
export { startRedis, type RedisOptions } from "./redis.ts";
export type { TestServer } from "./server-process.ts";
