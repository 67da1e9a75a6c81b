/** Jobs: a durable multi-tenant job queue. This is what other workspaces may use of it. */
export * from "./engine/index.ts";
export { connectJobs, type ConnectOptions } from "./client/connect.ts";
export { JobCancelled, JobFailed, JobsError } from "./client/errors.ts";
export { JobHandle } from "./client/job-handle.ts";
export { JobsClient, type JobsClientOptions } from "./client/jobs-client.ts";
export type { NewJob, NewLimit } from "./client/new-job.ts";
export { JobStopped, RunningJob, type JobInput } from "./worker/running-job.ts";
export { JobWorker, type JobHandler, type WorkerOptions } from "./worker/worker.ts";
export type { JobEvent } from "./shard/protocol.ts";
export { jobsPlugin } from "./plugin.ts";
