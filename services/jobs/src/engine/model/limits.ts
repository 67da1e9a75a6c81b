/** Everything in the engine that could grow has a limit, and this is the list. Going over one is a refusal with code `INVALID`, unless said otherwise. */
export const JOB_LIMITS = {
  tenantCharsMax: 64,
  groupCharsMax: 64,
  idCharsMax: 512,
  workerCharsMax: 256,
  payloadBytesMax: 512 * 1024,
  resultBytesMax: 512 * 1024,
  errorCodeCharsMax: 256,
  metadataPairsMax: 16,
  metadataKeyCharsMax: 64,
  metadataValueCharsMax: 65_535,
  limitsPerJobMax: 16,
  limitKeyCharsMax: 512,
  /** Jobs that one job may wait for. */
  dependenciesMax: 1000,
  /** What a job is given of the results it waited for; above this the rest comes without its bytes, and has to be fetched. */
  inputBytesMax: 4 * 1024 * 1024,
  /** The same for all jobs that one request enqueues: their records hold what is known of it already. */
  requestInputBytesMax: 32 * 1024 * 1024,
  retriesMax: 1_000_000,
  /** Older finished attempts of one job are forgotten. */
  attemptsKeptMax: 100,
  /** Content and attempts of a job that is restarted: its record holds all of it, and the journal bounds a record. Its oldest attempts are forgotten above this. */
  restartBytesMax: 24 * 1024 * 1024,
  /** Ids of triggers that were merged into one job; a trigger that is repeated later than this many others counts as new. */
  mergedTriggersMax: 128,
  batchJobsMax: 10_000,
  leaseTasksMax: 10_000,
  /** Content of the tasks that one `lease` gives; it stops after the one that goes beyond. Clients of gRPC take 4 MiB, unless told otherwise. */
  leaseBytesMax: 2 * 1024 * 1024,
  leaseMsMax: 24 * 3_600_000,
  scheduleIdCharsMax: 256,
  /** Missed runs that one schedule makes up for, with policy `all`. */
  missedRunsMax: 1000,
  /** What one `apply` does of work that fell due before it returns to the caller; the rest follows in the next. */
  dueWorkMax: 2000,
  /** The same for the content of jobs that schedules make: the journal of a node takes only so much at once. */
  dueBytesMax: 4 * 1024 * 1024,
} as const;
