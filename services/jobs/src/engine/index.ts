/** The engine: the queue of one shard as a pure, deterministic machine. It does no I/O, reads no clock, and knows no shard. */
export * from "./model/command.ts";
export * from "./model/effect.ts";
export * from "./model/job-spec.ts";
export * from "./model/limits.ts";
export * from "./model/ports.ts";
export * from "./model/views.ts";
export { Engine, type Applied } from "./engine.ts";
export { Overview, type RecentQuery } from "./views/overview.ts";
export { mergePages, placeOfView, type ListCursor, type ListPage } from "./views/list-page.ts";
export { Queries, type ListQuery } from "./views/queries.ts";
