export { SystemClock, formatWall, systemRandom } from "./clock/system.ts";
export * from "./errors.ts";
export * from "./mirror/fleet-mirror.ts";
export * from "./mirror/mirror.ts";
export * from "./commits/committer.ts";
export * from "./catalogue/catalogue.ts";
export * from "./service/service.ts";
export * from "./service/abort-signal.ts";
export * from "./node/node.ts";
export * from "./node/options.ts";
export * from "./node/server-time-eras.ts";
/** Drivers that carry the kernel's decisions out: host, manager, router. */
export * from "./router/options.ts";
export * from "./router/router.ts";
export * from "./client/fleet-client.ts";
export * from "./router/router-error.ts";
export * from "./router/scatter.ts";
export * from "./plugin/index.ts";
export * from "./service/kernel-behaviour.ts";
