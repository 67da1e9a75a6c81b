/** The job queue in virtual time: whole runs from seeds, with faults, and checkers that keep books of their own. */
export { JOBS_BREAKS, type JobsBreak } from "./breaks.ts";
export { runSeed, runSeeds, type SeedsReport } from "./run-seeds.ts";
export type { RunReport } from "./world.ts";
