/** Real processes, real stores, kill -9, partitions. What benches also run is given out here. */
export { CodeRun, type RunTerms, type Trial } from "./code/code-run.ts";
export { crowdTrial } from "./code/crowd-trial.ts";
export { drainTrial } from "./code/drain-trial.ts";
export { flipTrial } from "./code/flip-trial.ts";
export { oneReplicaTrial } from "./code/one-replica-trial.ts";
export { outageTrial } from "./code/outage-trial.ts";
export { pushTrial } from "./code/push-trial.ts";
export { twoReplicasTrial } from "./code/two-replicas-trial.ts";
