import {
  ViewMachine,
  decodeNumbers,
  decodePlanChunk,
  shardCount,
  type Clock,
  type Entry,
  type Keys,
  type Member,
  type MemberEntry,
  type OpenEra,
  type Plan,
  type PlanChunk,
  type Rules,
  type ServiceParameters,
  type Terms,
  type View,
  type ViewEntry,
} from "@keelson/kernel";
import type { CatalogueHead } from "../catalogue/catalogue.ts";
import type { Committer } from "../commits/committer.ts";
import type { ServiceDefinition } from "../service/service.ts";

export interface ViewPorts {
  readonly node: string;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly committer: Committer;
  readonly terms: Terms;
  readonly rules: Rules;
  /** Undefined: the view needs a placement that this node does not know. */
  readonly planned: (service: string, plan: Plan | undefined) => void;
  readonly decided: (kind: "view" | "refused", reason: string) => void;
  readonly changed: () => void;
}

interface ServiceViews {
  readonly definition: ServiceDefinition;
  machine: ViewMachine;
  current: ViewEntry | undefined;
  wakeAt: number;
  busy: boolean;
  held: number;
  told: string | undefined;
  /** Of a plan that is kept in the store, by number. */
  readonly chunks: Map<number, PlanChunk>;
  /** A plan that is kept in the store is put together once for all that has changed. */
  stale: boolean;
}

/** Nodes that share a copy of the store share its entries: each is taken apart once. */
const decoded = new WeakMap<Entry, ReturnType<typeof decodePlanChunk>>();

/** Keeps each service's view in step with the members, and computes the plan from every new view. */
export class Views {
  readonly #ports: ViewPorts;
  readonly #services = new Map<string, ServiceViews>();
  readonly #members = new Map<string, MemberEntry>();

  constructor(services: Iterable<ServiceDefinition>, ports: ViewPorts) {
    this.#ports = ports;
    for (const definition of services) {
      this.#services.set(definition.name, {
        definition,
        machine: this.#machine(definition, definition.parameters),
        current: undefined,
        wakeAt: -Infinity,
        busy: false,
        held: 0,
        told: undefined,
        chunks: new Map(),
        stale: false,
      });
    }
  }

  view(service: string): View | undefined {
    return this.#services.get(service)?.current?.view;
  }

  members(): Iterable<MemberEntry> {
    return this.#members.values();
  }

  setMember(node: string, member: Member | undefined, revision: number): void {
    if (member) this.#members.set(node, { member, revision });
    else this.#members.delete(node);
    this.#look();
  }

  setView(service: string, view: View | undefined, revision: number): void {
    const state = this.#services.get(service);
    if (!state) return;
    state.current = view && { view, revision };
    state.wakeAt = -Infinity;
    if (!view) return;
    const { placement } = state.definition;
    state.stale = placement.stored === true && view.algorithm === placement.algorithm;
    if (state.stale) return;
    if (view.algorithm === placement.algorithm) this.#ports.planned(service, placement.plan(view));
    else {
      this.#ports.planned(service, undefined);
      this.#ports.decided(
        "refused",
        `the view of ${service} needs placement ${view.algorithm}, this node knows ${placement.algorithm}: upgrade it`,
      );
    }
  }

  /** A chunk of a plan that is kept in the store came, changed or went. */
  setChunk(service: string, chunk: number, entry: Entry | undefined): void {
    const state = this.#services.get(service);
    if (!state?.definition.placement.stored) return;
    state.stale = state.current?.view.algorithm === state.definition.placement.algorithm;
    if (!entry) {
      state.chunks.delete(chunk);
      return;
    }
    let read = decoded.get(entry);
    if (!read) decoded.set(entry, (read = decodePlanChunk(entry.value)));
    if ("problem" in read) this.#ports.decided("refused", `${entry.key}: ${read.problem}`);
    else state.chunks.set(chunk, read);
  }

  /** The service's own list of shards changed: declare it anew. It stands only where its number is higher than the view's. */
  setHead(service: string, head: CatalogueHead | undefined): void {
    const state = this.#services.get(service);
    if (!state?.definition.catalogued) return;
    const { parameters } = state.definition;
    const shardIds = [...(parameters.shardIds ?? []), ...(head?.shardIds ?? [])];
    const numbers = head?.shardNumbers;
    state.machine = this.#machine(state.definition, {
      ...parameters,
      revision: (parameters.revision ?? 0) + (head?.n ?? 0),
      shards: shardIds.length + (numbers === undefined ? 0 : decodeNumbers(numbers).length),
      shardIds,
      ...(numbers === undefined ? {} : { shardNumbers: numbers }),
      replicas: head?.replicas ?? parameters.replicas,
    });
    state.wakeAt = -Infinity;
  }

  /** So many more replicas of the service have a holder than before; fewer, if negative. */
  countHeld(service: string, more: number): void {
    const state = this.#services.get(service);
    if (state) state.held += more;
  }

  tick(era: OpenEra | undefined, mayPropose: boolean): void {
    const now = this.#ports.clock.now();
    for (const state of this.#services.values()) if (state.stale) this.#replan(state);
    if (!era || !mayPropose) return;
    for (const state of this.#services.values())
      if (!state.busy && now >= state.wakeAt) this.#decide(state, era, now);
  }

  wakeAt(): number {
    let at = Infinity;
    for (const state of this.#services.values()) if (!state.busy) at = Math.min(at, state.wakeAt);
    return at;
  }

  #replan(state: ServiceViews): void {
    state.stale = false;
    const { name, placement } = state.definition;
    const view = state.current?.view;
    if (view) this.#ports.planned(name, placement.plan(view, state.chunks.values()));
  }

  #decide(state: ServiceViews, era: OpenEra, now: number): void {
    const { keys, committer, decided, changed } = this.#ports;
    const { name, parameters } = state.definition;
    const wanted = state.current ? state.current.view.parameters : parameters;
    const unheld = state.held < shardCount(wanted) * wanted.replicas;
    const decision = state.machine.decide(
      { current: state.current, members: this.#members.values(), unheld },
      now,
    );
    state.wakeAt = decision.wakeAt ?? Infinity;
    if (decision.mismatch !== state.told) {
      state.told = decision.mismatch;
      if (decision.mismatch !== undefined) decided("refused", decision.mismatch);
    }
    const proposal = decision.proposal;
    if (!proposal) return;
    state.busy = true;
    committer.alone(
      {
        guards: [...proposal.guards, { key: keys.era, revision: era.revision }],
        writes: [{ kind: "put", key: keys.view(name), value: JSON.stringify(proposal.view) }],
      },
      (report) => {
        state.busy = false;
        if (report === "committed") decided("view", `${name} ${proposal.view.n}: ${proposal.reason}`);
        changed();
      },
    );
  }

  #machine(definition: ServiceDefinition, parameters: ServiceParameters): ViewMachine {
    const { node, keys, terms, rules } = this.#ports;
    const stabilisationMs = definition.stabilisationMs ?? 0;
    const declaration = {
      service: definition.name,
      parameters,
      algorithm: definition.placement.algorithm,
      stabilisationMs,
      stabilisationMaxMs: 3 * stabilisationMs,
    };
    return new ViewMachine({ node, keys, terms, rules, declaration });
  }

  #look(): void {
    for (const state of this.#services.values()) state.wakeAt = -Infinity;
  }
}
