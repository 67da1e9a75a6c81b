/**
 * The plans that hosts follow, worked out from a copy of the store as they do it themselves. A placement is known by the name in the view, so that a
 * process which runs no service can still say where a shard should be; services with a placement of their own bring it along.
 */
import {
  AUCTION,
  BALANCED,
  CLAIM,
  RING,
  auction,
  claim,
  decodePlanChunk,
  ring,
  StoredPlans,
  type Entry,
  type Placement,
  type Plan,
  type PlanChunk,
  type View,
} from "@keelson/kernel";
import type { FleetFacts } from "./facts.ts";

const KNOWN: Readonly<Record<string, (options: { readonly service: string }) => Placement>> = {
  [RING]: ring,
  [AUCTION]: auction,
  [CLAIM]: claim,
};

export class Plans {
  /** By service: placements that are not the kernel's. */
  readonly #own: ReadonlyMap<string, Placement>;
  readonly #known = new Map<string, Placement>();
  readonly #stored = new Map<string, StoredPlans>();
  readonly #chunks = new WeakMap<Entry, PlanChunk | undefined>();
  readonly #last = new Map<string, { view: View; entries: readonly Entry[]; plan: Plan }>();

  constructor(own: ReadonlyMap<string, Placement> = new Map()) {
    this.#own = own;
  }

  /** Undefined when the service has no view yet, or its placement is not known here. */
  of(facts: Pick<FleetFacts, "views" | "plans">, service: string): Plan | undefined {
    const view = facts.views.get(service)?.value;
    if (!view) return undefined;
    const entries = facts.plans.get(service) ?? [];
    const last = this.#last.get(service);
    if (last?.view === view && same(last.entries, entries)) return last.plan;
    const plan = this.compute(service, view, entries);
    if (plan) this.#last.set(service, { view, entries, plan });
    return plan;
  }

  /** The plan for any view of the service, with the targets that are stored, if its placement stores them. */
  compute(service: string, view: View, entries: readonly Entry[]): Plan | undefined {
    const own = this.#own.get(service);
    if (own?.algorithm === view.algorithm && view.algorithm !== BALANCED) return own.plan(view);
    if (view.algorithm === BALANCED) {
      let plans = this.#stored.get(service);
      if (!plans) this.#stored.set(service, (plans = new StoredPlans(service)));
      return plans.plan(view, this.chunks(entries));
    }
    const key = `${service} ${view.algorithm}`;
    let placement = this.#known.get(key);
    if (!placement) {
      placement = KNOWN[view.algorithm]?.({ service });
      if (!placement) return undefined;
      this.#known.set(key, placement);
    }
    return placement.plan(view);
  }

  /** What is stored of a plan; chunks that cannot be read are left out, as hosts leave them out. */
  chunks(entries: readonly Entry[]): PlanChunk[] {
    return entries.flatMap((entry) => {
      if (!this.#chunks.has(entry)) {
        const chunk = decodePlanChunk(entry.value);
        this.#chunks.set(entry, "problem" in chunk ? undefined : chunk);
      }
      return this.#chunks.get(entry) ?? [];
    });
  }
}

function same(a: readonly Entry[], b: readonly Entry[]): boolean {
  return a.length === b.length && a.every((entry, i) => entry === b[i]);
}
