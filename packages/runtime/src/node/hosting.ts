/** What a service's definition says to the machine that hosts its replicas. */
import type { HostedService } from "@keelson/kernel";
import type { ServiceDefinition } from "../service/service.ts";

/** Auctions, claims and primaries look at more replicas than those that facts are kept about. */
export function knowsItsReplicas({ placement, parameters }: ServiceDefinition): boolean {
  return (placement.kind ?? "plan") === "plan" && parameters.primary !== true;
}

export function hosted(service: ServiceDefinition): HostedService {
  return {
    grants: service.placement.kind ?? "plan",
    builds: service.prepare !== undefined,
    primary: service.parameters.primary === true && service.parameters.replicas > 1,
  };
}
