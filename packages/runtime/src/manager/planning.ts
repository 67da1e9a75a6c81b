import {
  balanced,
  dryRun,
  explainReplica,
  proposedPlan,
  shadow,
  type BalanceController,
  type BalancedLimits,
  type ControllerInput,
  type DryRun,
  type PlacementExplanation,
  type Plan,
  type Shadow,
  type View,
} from "@keelson/kernel";
import type { ServiceDefinition } from "../service/service.ts";

export interface PlanningPorts {
  /** Of a service that is balanced, or has that as its shadow. */
  readonly controller: BalanceController | undefined;
  readonly input: () => ControllerInput;
  readonly plan: () => Plan | undefined;
  readonly view: () => View | undefined;
}

/**
 * Plans of one service looked at without being followed: what the next would do, why a replica is where it is, and how another placement would differ. Any node can
 * answer from its copy of the store; the manager's answers rest on smoothed loads. Nothing is stored.
 */
export class Planning {
  readonly #service: ServiceDefinition;
  readonly #ports: PlanningPorts;

  constructor(service: ServiceDefinition, ports: PlanningPorts) {
    this.#service = service;
    this.#ports = ports;
  }

  /** What would move now, why, what it costs and what is refused; under other limits, if they are given. Undefined when the service is not balanced, or has no view yet. */
  dryRun(limits?: Partial<BalancedLimits>): DryRun | undefined {
    const input = this.#input(limits);
    return input && dryRun(input);
  }

  /** Why the next plan puts a replica where it does, and what speaks against every other node. */
  why(shard: string, replica: number): PlacementExplanation | undefined {
    const input = this.#input();
    return input && explainReplica(input, balanced(input), shard, replica);
  }

  /** How the placement in shadow would differ from the one that rules. Undefined when there is none, or nothing to compare yet. */
  shadow(): Shadow | undefined {
    const active = this.#ports.plan();
    const view = this.#ports.view();
    const other = this.#service.shadow;
    if (!active || !view || !other) return undefined;
    if (!other.placement.stored) {
      const parameters = { ...view.parameters, placement: other.options ?? {} };
      return shadow(active, other.placement.plan({ ...view, parameters }));
    }
    const input = this.#input();
    if (!input) return undefined;
    return shadow(active, proposedPlan(this.#service.name, view.parameters, input, balanced(input)));
  }

  #input(limits?: Partial<BalancedLimits>) {
    const { controller, input } = this.#ports;
    const seen = input();
    controller?.look(seen);
    return controller?.input(seen, limits);
  }
}
