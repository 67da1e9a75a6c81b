/** Jobs: a durable multi-tenant job queue. This is what other workspaces may use of it. */
export * from "./engine/index.ts";
