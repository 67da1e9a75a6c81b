import type { Plan, PlanLine } from "../placement/plan.ts";
import type { Local } from "./local.ts";

/** The plans that a host follows, one for each service, and since when. */
export class Plans {
  readonly #plans = new Map<string, Plan>();
  readonly #since = new Map<string, number>();

  set(service: string, plan: Plan, now: number): void {
    this.#plans.set(service, plan);
    this.#since.set(service, now);
  }

  get(service: string): Plan | undefined {
    return this.#plans.get(service);
  }

  since(service: string): number {
    return this.#since.get(service) ?? Infinity;
  }

  /** A replica's line. It is asked for several times at every look, and the plan of a large fleet is a large map: it is looked up once. */
  line(local: Local): PlanLine | undefined {
    const plan = this.#plans.get(local.id.service);
    if (local.plan !== plan) {
      local.plan = plan;
      local.planned = plan?.lines.get(local.key);
    }
    return local.planned;
  }
}
