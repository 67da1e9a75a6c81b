import {
  BalanceController,
  type ControllerInput,
  type HeldSession,
  type Plan,
  type View,
} from "@keelson/kernel";
import type { ServiceDefinition } from "../service/service.ts";
import { LoadReports, type LoadReportPorts } from "./load-reports.ts";
import { Planning } from "./planning.ts";

export interface BalancingPorts extends LoadReportPorts {
  readonly input: () => ControllerInput;
  readonly plan: (service: string) => Plan | undefined;
  readonly view: (service: string) => View | undefined;
  readonly decided: (reason: string) => void;
}

/** What a node does for its services that are balanced by load, or have that as their shadow: it reports what it measures, and has a controller ready for when it is elected. */
export class Balancing {
  readonly #ports: BalancingPorts;
  readonly #services: ReadonlyMap<string, ServiceDefinition>;
  readonly #controllers: ReadonlyMap<string, BalanceController>;
  readonly #reports: LoadReports;

  constructor(services: ReadonlyMap<string, ServiceDefinition>, ports: BalancingPorts) {
    this.#ports = ports;
    this.#services = services;
    const controllers = new Map<string, BalanceController>();
    for (const service of services.values()) {
      const made = this.#controller(service);
      if (made) controllers.set(service.name, made);
    }
    this.#controllers = controllers;
    this.#reports = new LoadReports(services.values(), ports);
  }

  get controllers(): Iterable<BalanceController> {
    return this.#controllers.values();
  }

  /** Plans of a service to look at without following them; undefined when this node does not run the service. */
  planning(service: string): Planning | undefined {
    const definition = this.#services.get(service);
    const { input, plan, view } = this.#ports;
    return (
      definition &&
      new Planning(definition, {
        controller: this.#controllers.get(service),
        input,
        plan: () => plan(service),
        view: () => view(service),
      })
    );
  }

  tick(session: HeldSession | undefined): void {
    this.#reports.tick(session);
  }

  wakeAt(): number {
    return this.#reports.wakeAt();
  }

  #controller({ name, placement, shadow }: ServiceDefinition): BalanceController | undefined {
    const { node, decided } = this.#ports;
    if (placement.stored) return new BalanceController({ service: name, node });
    if (!shadow?.placement.stored) return undefined;
    const differs = (moves: number, replicas: number): void =>
      decided(`shadow of ${name}: it would move ${moves} of ${replicas} replicas`);
    const options = { placement: shadow.options ?? {}, differs };
    return new BalanceController({ service: name, node, shadow: options });
  }
}
