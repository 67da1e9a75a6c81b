import {
  PLACEMENT_NAMES,
  auctionProblem,
  balancedProblem,
  nameProblem,
  placementNamed,
  type Placement,
  type PlacementName,
  type ServiceParameters,
  type ShardHandler,
  type ShardMemory,
} from "@keelson/kernel";
import { KeelsonError } from "../errors.ts";
import type { KeelsonNode } from "../node/node.ts";

/** One kind of data plane, as a node runs it: its shards, where they go, and how one is opened. */
export interface ServiceDefinition extends ShardHandler {
  readonly name: string;
  readonly parameters: ServiceParameters;
  readonly placement: Placement;
  /** Another placement, computed beside the one that rules and never followed: the node says how they differ. `options` are as in `parameters.placement`. */
  readonly shadow?: {
    readonly placement: Placement;
    readonly options?: ServiceParameters["placement"];
  };
  /** How long a join waits for others before shards move; losses never wait. */
  readonly stabilisationMs?: number;
  /** What a node of this service has room for. Auctions need it: free memory is what nodes bid. */
  readonly memory?: ShardMemory;
  /** Its shards are those of its catalogue's head, besides those declared here; nodes follow the head as it changes. */
  readonly catalogued?: boolean;
  /** Called once, when the node is made: what a service needs of its node for more than one shard at a time. */
  attach?(node: KeelsonNode): void;
}

/** As a definition, with placements by name if they are the kernel's own. */
export interface ServiceDeclaration extends Omit<ServiceDefinition, "placement" | "shadow"> {
  readonly placement: Placement | PlacementName;
  readonly shadow?: {
    readonly placement: Placement | PlacementName;
    readonly options?: ServiceParameters["placement"];
  };
}

/** Checks a declaration and completes it. The front door for the user's own service. */
export function defineService(declaration: ServiceDeclaration): ServiceDefinition {
  const { placement, shadow, ...rest } = declaration;
  const definition: ServiceDefinition = {
    ...rest,
    placement: chosen(placement, declaration.name),
    ...(shadow ? { shadow: { ...shadow, placement: chosen(shadow.placement, declaration.name) } } : {}),
  };
  const problem = serviceProblem(definition);
  if (problem) throw new KeelsonError("BAD_SERVICE", problem);
  return definition;
}

function chosen(placement: Placement | PlacementName, service: string): Placement {
  if (typeof placement !== "string") return placement;
  const found = placementNamed(placement, service);
  if (found) return found;
  throw new KeelsonError(
    "BAD_SERVICE",
    `service ${service} has placement ${JSON.stringify(placement)}: choose one of ${PLACEMENT_NAMES.join(", ")}`,
  );
}

function serviceProblem(definition: ServiceDefinition): string | undefined {
  const { name, parameters } = definition;
  const bad = nameProblem("service name", name);
  if (bad) return bad;
  if (!definition.open && !definition.prepare)
    return `service ${name} has neither open nor prepare: give it one of them`;
  if (definition.open && definition.prepare)
    return `service ${name} has both open and prepare: give it one of them`;
  const shards = parameters.shardIds?.length ?? parameters.shards;
  if (!Number.isInteger(shards) || shards < 1 || shards > 1_000_000)
    return `service ${name} needs 1 to 1,000,000 shards, not ${shards}`;
  if (parameters.shardIds && new Set(parameters.shardIds).size !== parameters.shardIds.length)
    return `service ${name} names a shard twice`;
  if (!Number.isInteger(parameters.replicas) || parameters.replicas < 1 || parameters.replicas > 9) {
    return `service ${name} needs 1 to 9 replicas, not ${parameters.replicas}`;
  }
  const { kind = "plan" } = definition.placement;
  if (kind === "auction" && !definition.memory)
    return `service ${name} is auctioned, and says nothing of memory: give it a memory, which is what nodes bid`;
  const problem =
    optionsProblem(definition.placement, parameters.placement) ??
    (definition.shadow && optionsProblem(definition.shadow.placement, definition.shadow.options ?? {}));
  return problem === undefined ? undefined : `service ${name}: ${problem}`;
}

function optionsProblem(placement: Placement, options: ServiceParameters["placement"]): string | undefined {
  if (placement.stored) return balancedProblem(options);
  return (placement.kind ?? "plan") === "plan" ? undefined : auctionProblem(options);
}
