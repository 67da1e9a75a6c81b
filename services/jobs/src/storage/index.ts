/** A shard's durable queue without a fleet around it, for measurements. */
export { DurableQueue, type DurableQueueOptions } from "./durable-queue.ts";
export { NodeJournal } from "./node-journal.ts";
export { SlatePages } from "./slate-pages.ts";
export { cronAlgorithm } from "../cron/cron-algorithm.ts";
export { rateAlgorithm } from "../gubernator/rate-algorithm.ts";
export { packJobs, unpackJobs } from "../shard/packed/jobs.ts";
export { packReports, unpackReports } from "../shard/packed/reports.ts";
export { packTasks, unpackTasks } from "../shard/packed/tasks.ts";
