/** The plug-in declaration, and what a plug-in's parts are given. docs/design/front-door.md tells how they fit. */
export * from "./api-client.ts";
export * from "./console.ts";
export * from "./fleet-access.ts";
export * from "./grpc.ts";
export * from "./http-answer.ts";
export * from "./json-text.ts";
export * from "./metrics.ts";
export * from "./node-context.ts";
export * from "./node-services.ts";
export * from "./plugin.ts";
export type * from "./ports.ts";
export * from "./principal.ts";
export * from "./route.ts";
export { pathsOf } from "./route-problem.ts";
export * from "./verb.ts";
