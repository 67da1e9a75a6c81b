/** Everything that can go wrong, and how a checker should think of it. */
export type FaultKind =
  | "crash"
  | "double-crash"
  | "pause"
  | "partition"
  | "deaf"
  | "mute"
  | "isolated"
  | "slow"
  | "fading"
  | "lossy"
  | "repeating"
  | "lost-replies"
  | "stale-watch"
  | "slow-objects"
  | "brownout"
  | "suspended"
  | "store-outage"
  | "store-restart"
  | "store-lost"
  | "store-lost-silently"
  | "store-total"
  | "wall-step"
  | "clock-rate"
  | "expelled"
  | "drain";

/**
 * What a fault means for a replica whose tenure its node has:
 * - `loss`: the node stops at once, as far as the fleet can tell, and its session ends one TTL later: the replica must be held again although the fault lasts;
 * - `hindrance`: the node limps: its session may live on without it being able to serve, so nothing is promised until the fault is over;
 * - `harmless`: ownership must not notice.
 */
export type FaultEffect = "loss" | "hindrance" | "harmless";

/** One line each, for `--trace`, the README and the summary. */
export const FAULTS: Readonly<Record<FaultKind, { readonly effect: FaultEffect; readonly about: string }>> = {
  crash: { effect: "loss", about: "the process ends without a word, and is started again later" },
  "double-crash": {
    effect: "loss",
    about: "a second process ends while the first one's session has not yet expired",
  },
  pause: {
    effect: "loss",
    about: "nothing runs in the process for 0.05 to 4 TTL, sometimes from the worst moment on",
  },
  partition: { effect: "loss", about: "no message passes between the node and the store" },
  deaf: {
    effect: "hindrance",
    about: "no message passes from the store to the node; its calls still arrive",
  },
  mute: { effect: "loss", about: "no message passes from the node to the store; it still hears watches" },
  isolated: {
    effect: "harmless",
    about: "no message passes between the node and other processes; the store is reached",
  },
  slow: { effect: "hindrance", about: "messages between node and store take up to seconds longer" },
  fading: {
    effect: "hindrance",
    about: "replies from the store come ever later, and then nothing passes at all",
  },
  lossy: {
    effect: "hindrance",
    about: "messages between node and store get lost; some arrive long after their sender gave up",
  },
  repeating: { effect: "hindrance", about: "calls to the store arrive twice, the second time much later" },
  "lost-replies": { effect: "hindrance", about: "calls reach the store, and most of their replies are lost" },
  "stale-watch": {
    effect: "hindrance",
    about: "the node hears of changes seconds late, while its calls are quick",
  },
  "slow-objects": { effect: "hindrance", about: "the node's calls to resources take up to seconds longer" },
  brownout: { effect: "hindrance", about: "everyone's calls to resources take up to seconds longer" },
  suspended: {
    effect: "hindrance",
    about: "the service cannot work on the node, which gives its replicas up and takes none until it can",
  },
  "store-outage": {
    effect: "hindrance",
    about: "the store is down for 0.05 to 3 TTL and comes back with every write",
  },
  "store-restart": {
    effect: "hindrance",
    about: "the store is down for a moment and comes back with every write",
  },
  "store-lost": {
    effect: "hindrance",
    about: "the store comes back without its last seconds of writes, as a new incarnation",
  },
  "store-lost-silently": { effect: "hindrance", about: "the same, but it does not say so" },
  "store-total": { effect: "hindrance", about: "the store comes back empty" },
  "wall-step": { effect: "harmless", about: "somebody sets a wall clock, of a node or of the store" },
  "clock-rate": {
    effect: "harmless",
    about: "a clock, of a node or of the store, begins to run at another rate",
  },
  expelled: {
    effect: "harmless",
    about: "somebody ends a node's membership session: it must join again, and keep what it holds",
  },
  drain: { effect: "harmless", about: "a node is asked to leave, and is started again later" },
};

export const FAULT_KINDS = Object.keys(FAULTS) as FaultKind[];

/** One occurrence. `node` is undefined when it concerns no node in particular. */
export interface FaultRecord {
  readonly id: number;
  readonly kind: FaultKind;
  readonly node: string | undefined;
  readonly detail: string;
}
