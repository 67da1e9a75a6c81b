/**
 * All commands, in the order of `keelson --help`. Each is loaded when it is asked for: a person who types `keelson status` does not wait for the stores,
 * placements and services that `keelson node` needs.
 */
import type { Command } from "commander";

export interface CommandEntry {
  readonly name: string;
  readonly group: "Run" | "See" | "Change" | "Other";
  /** One line for the list. */
  readonly about: string;
  readonly load: () => Promise<Command>;
}

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "up",
    group: "Run",
    about: "run a whole fleet in one process: store, nodes, gateway; the next start finds everything",
    load: async () => (await import("./up.ts")).upCommand(),
  },
  {
    name: "node",
    group: "Run",
    about: "run one node of a fleet; Ctrl-C hands over what it holds and ends it",
    load: async () => (await import("./node.ts")).nodeCommand(),
  },
  {
    name: "gateway",
    group: "Run",
    about: "run the HTTP front door of a fleet; Ctrl-C lets requests finish and ends it",
    load: async () => (await import("./gateway.ts")).gatewayCommand(),
  },
  {
    name: "store",
    group: "Run",
    about: "serve a store in a folder to the nodes of this machine",
    load: async () => (await import("./store.ts")).storeCommand(),
  },
  {
    name: "demo",
    group: "Run",
    about: "three nodes, a crash and a drain under load, in one process; ends by itself",
    load: async () => (await import("./demo.ts")).demoCommand(),
  },
  {
    name: "status",
    group: "See",
    about: "the fleet at a glance",
    load: async () => (await import("./fleet/status.ts")).statusCommand(),
  },
  {
    name: "nodes",
    group: "See",
    about: "the nodes, what they hold and how they are",
    load: async () => (await import("./fleet/nodes.ts")).nodesCommand(),
  },
  {
    name: "shards",
    group: "See",
    about: "who holds which shard",
    load: async () => (await import("./fleet/shards.ts")).shardsCommand(),
  },
  {
    name: "explain",
    group: "See",
    about: "who holds a shard, since when, and why",
    load: async () => (await import("./fleet/explain.ts")).explainCommand(),
  },
  {
    name: "events",
    group: "See",
    about: "what happened in the fleet, as the gateway saw it",
    load: async () => (await import("./fleet/events.ts")).eventsCommand(),
  },
  {
    name: "top",
    group: "See",
    about: "nodes and services, every second; Ctrl-C ends it",
    load: async () => (await import("./fleet/top.ts")).topCommand(),
  },
  {
    name: "doctor",
    group: "See",
    about: "what is wrong, and what to do about it",
    load: async () => (await import("./fleet/doctor.ts")).doctorCommand(),
  },
  {
    name: "plan",
    group: "See",
    about: "what would move, now or if nodes left or joined; changes nothing",
    load: async () => (await import("./fleet/plan.ts")).planCommand(),
  },
  {
    name: "drain",
    group: "Change",
    about: "let a node give away what it holds, and wait until it has",
    load: async () => (await import("./fleet/drain.ts")).drainCommand(),
  },
  {
    name: "undrain",
    group: "Change",
    about: "let a drained node take its share again",
    load: async () => (await import("./fleet/drain.ts")).undrainCommand(),
  },
  {
    name: "pin",
    group: "Change",
    about: "keep a shard on a node (placement balanced)",
    load: async () => (await import("./fleet/pin.ts")).pinCommand(),
  },
  {
    name: "unpin",
    group: "Change",
    about: "let the placement decide again",
    load: async () => (await import("./fleet/pin.ts")).unpinCommand(),
  },
  {
    name: "move",
    group: "Change",
    about: "move a shard once; the placement may move it on later",
    load: async () => (await import("./fleet/pin.ts")).moveCommand(),
  },
  {
    name: "retry",
    group: "Change",
    about: "end a shard's quarantine: forget what is held against it",
    load: async () => (await import("./fleet/pin.ts")).retryCommand(),
  },
  {
    name: "audit",
    group: "See",
    about: "who asked the gateway for what, and what became of it",
    load: async () => (await import("./fleet/audit.ts")).auditCommand(),
  },
  {
    name: "token",
    group: "Other",
    about: "make, list and revoke the bearer tokens of a gateway",
    load: async () => (await import("./token.ts")).tokenCommand(),
  },
  {
    name: "completion",
    group: "Other",
    about: "print a script that completes commands in bash, zsh or fish",
    load: async () => (await import("./completion.ts")).completionCommand(),
  },
];
