/** A shard's durable queue and what it is made of, without a fleet around it: for measurements. */
export { DurableQueue, type DurableQueueOptions } from "./durable-queue.ts";
export { NodeJournal } from "./node-journal.ts";
export { SlatePages } from "./slate-pages.ts";
export type { Pages } from "./pages.ts";
export { decodeManifest, encodeManifest, MANIFEST_KEY } from "./manifest.ts";
export { jobEntryKey, statusKey } from "./finished/entries.ts";
export { RunWriter } from "./finished/run-writer.ts";
export { encodeBody } from "../engine/codec/body.ts";
export { writeStoredJob, type StoredJob } from "../engine/codec/stored-job.ts";
export { packJobs, unpackJobs } from "../shard/packed/jobs.ts";
export { packReports, unpackReports } from "../shard/packed/reports.ts";
export { packTasks, unpackTasks } from "../shard/packed/tasks.ts";
export { cronAlgorithm } from "../cron/cron-algorithm.ts";
export { rateAlgorithm } from "../gubernator/rate-algorithm.ts";
