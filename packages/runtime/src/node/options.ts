import {
  nameProblem,
  terms as allTerms,
  type Clock,
  type Controller,
  type Decision,
  type EraSource,
  type ProtocolRange,
  type Random,
  type Rules,
  type Store,
  type Terms,
  type Transport,
} from "@keelson/kernel";
import type { KeelsonError } from "../errors.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { ServiceDefinition } from "../service/service.ts";

/** The world, as a node sees it. The simulator gives it another one. */
export interface NodePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Transport;
  readonly eras: EraSource;
  /** A copy of this fleet's keys that nodes of one process share, started and stopped by whoever made it. Without it the node keeps its own. */
  readonly mirror?: Mirror;
  /** What survives a restart of the process on this machine, if anything does. */
  readonly memory?: NodeMemory;
}

/** A small note to one's next self. Only a process that is known to be dead may be succeeded: its sessions are revoked at once. */
export interface NodeMemory {
  load(): { readonly era: number; readonly sessions: readonly string[] } | undefined;
  save(note: { readonly era: number; readonly sessions: readonly string[] }): void;
}

export interface NodeOptions {
  readonly fleet: string;
  readonly node: string;
  /** Where others reach this node's wire server. */
  readonly address: string;
  readonly zone?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly capabilities?: readonly string[];
  readonly version?: string;
  readonly protocol?: ProtocolRange;
  /** Relative share of shards; 1 is an ordinary node. */
  readonly capacity?: number;
  readonly services: readonly ServiceDefinition[];
  /**
   * Auctions close at so many answers, unless the fleet's store says otherwise; left out, at as many as there are live bidders. The same on every node: see
   * `maxBidsFromEnvironment`.
   */
  readonly maxBids?: number;
  readonly controllers?: readonly Controller[];
  readonly terms?: Partial<Terms>;
  /** Only the simulator passes anything but the default. */
  readonly rules?: Rules;
  readonly onDecision?: (decision: Decision) => void;
  /** The node cannot go on (its id is taken, the fleet speaks another protocol) and has stopped. */
  readonly onFatal?: (error: KeelsonError) => void;
}

export function nodeOptionsProblem(options: NodeOptions): string | undefined {
  const bad = nameProblem("fleet name", options.fleet) ?? nameProblem("node id", options.node);
  if (bad) return bad;
  if (options.zone !== undefined && options.zone !== "" && nameProblem("zone", options.zone))
    return nameProblem("zone", options.zone);
  const { capacity = 1 } = options;
  if (!(capacity >= 0 && capacity <= 1000)) return `capacity must be 0 to 1000, not ${capacity}`;
  const { maxBids = 1 } = options;
  if (!Number.isSafeInteger(maxBids) || maxBids < 1)
    return `maxBids must be a whole number from 1, not ${maxBids}`;
  const names = options.services.map((service) => service.name);
  if (new Set(names).size !== names.length) return `a service is declared twice: ${names.join(", ")}`;
  const { ttlMs, renewMs, ttlMsMax, marginMs } = allTerms(options.terms);
  if (!(ttlMs >= 500)) return `ttlMs must be at least 500, not ${ttlMs}`;
  if (!(renewMs > 0 && renewMs <= ttlMs / 3))
    return `renewMs must be at most a third of ttlMs (${ttlMs}), not ${renewMs}`;
  if (ttlMs > ttlMsMax) return `ttlMs (${ttlMs}) is longer than the fleet's ttlMsMax (${ttlMsMax})`;
  if (!(marginMs >= 0 && marginMs < ttlMs / 4))
    return `marginMs must be below a quarter of ttlMs, not ${marginMs}`;
  return undefined;
}
