import {
  Keys,
  placementNamed,
  replicaKey,
  shardIds,
  terms as makeTerms,
  type Placement,
  type ReplicaKey,
  type ServiceParameters,
  type Terms,
} from "@keelson/kernel";
import { Autoscaler } from "./auction/autoscaler.ts";
import { AuctionWorld } from "./auction/world.ts";
import { ShardLoads } from "./balance/loads.ts";
import type { OwnRules } from "./breaks.ts";
import { uniform } from "./chance/draw.ts";
import { Streams } from "./chance/streams.ts";
import type { Checker, Scene, Violation } from "./checkers/checker.ts";
import { makeCheckers } from "./checkers/index.ts";
import type { SimEvent } from "./events.ts";
import { FaultInjector } from "./faults/injector.ts";
import { Ledger } from "./ledger.ts";
import { Network } from "./network.ts";
import { SimNode, type NodeFactory } from "./node.ts";
import { PlannedOperations } from "./operations.ts";
import { SimProcess } from "./process.ts";
import { Quiet } from "./quiet.ts";
import { Resources } from "./resource.ts";
import { drawKnobs, type Knobs } from "./scenario/knobs.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { StoreServer } from "./store-server.ts";
import { Supervisor } from "./supervisor.ts";
import { MachineClock } from "./time/machine-clock.ts";
import { Scheduler } from "./time/scheduler.ts";
import { Trace } from "./trace.ts";
import { Tally } from "./tally.ts";
import type { Listeners } from "./transport.ts";
import { Workload, type ClientRouter } from "./workload.ts";

/** Everything that the makers of nodes and clients may use. */
export interface Surroundings {
  readonly scenario: Scenario;
  readonly knobs: Knobs;
  readonly terms: Terms;
  readonly keys: Keys;
  readonly parameters: ServiceParameters;
  readonly placement: Placement;
  readonly own: OwnRules;
  readonly streams: Streams;
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly store: StoreServer;
  readonly listeners: Listeners;
  readonly resources: Resources;
  /** The repositories and the nodes' memory, where these are auctioned or claimed. */
  readonly auction: AuctionWorld | undefined;
  /** Where placement goes by load. */
  readonly loads: ShardLoads | undefined;
  readonly emit: (event: SimEvent) => void;
}

export interface SimulationOptions {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly own: OwnRules;
  /** What runs on a machine, and how a client finds its way. The real drivers, unless a test says otherwise. */
  readonly makeNode: (surroundings: Surroundings) => NodeFactory;
  readonly makeRouter: (surroundings: Surroundings, process: SimProcess) => ClientRouter;
  readonly onTraceLine?: (line: string) => void;
  readonly onViolation?: (violation: Violation) => void;
  /** Further listeners, for what a run measures; they change nothing. */
  readonly watch?: (scene: Scene) => readonly Pick<Checker, "hears" | "on">[];
  /** Ends the run early once this many violations were found. */
  readonly violationsMax?: number;
}

export const SERVICE = "kv";

/** One run: a fleet in virtual time, its clients, what goes wrong, and the checkers that watch. */
export class Simulation {
  readonly knobs: Knobs;
  readonly trace: Trace;
  readonly tally: Tally;
  readonly violations: Violation[] = [];
  readonly nodes: readonly SimNode[];
  readonly workload: Workload;
  readonly injector: FaultInjector;
  readonly operations: PlannedOperations;
  readonly autoscaler: Autoscaler | undefined;
  readonly checkers: readonly Checker[];
  readonly scheduler = new Scheduler();
  readonly #options: SimulationOptions;
  readonly #supervisor: Supervisor;
  readonly #surroundings: Surroundings;
  readonly #ledger: Ledger;
  /** Who is told of an event, by its kind. */
  readonly #listeners = new Map<SimEvent["kind"], ((event: SimEvent) => void)[]>();

  constructor(options: SimulationOptions) {
    const { scenario, seed } = options;
    this.#options = options;
    const streams = new Streams(seed);
    const { scheduler } = this;
    this.knobs = drawKnobs(scenario, streams);
    this.trace = new Trace(() => scheduler.now, options.onTraceLine);
    this.tally = new Tally();
    const emit = (event: SimEvent): void => this.#emit(event);
    const terms = makeTerms(scenario.terms);
    const storeClock = this.#clock("store");
    const store = new StoreServer(
      scheduler,
      storeClock,
      {
        changed: (batch) => emit({ kind: "store-changed", batch }),
        foreign: (sender, madeFor, carriedOutBy) =>
          emit({ kind: "foreign-commit", sender, madeFor, carriedOutBy }),
        recovered: (recovery) => emit({ kind: "store-recovered", recovery }),
      },
      options.own,
    );
    const network = new Network(scheduler, networkTerms(this.knobs, terms), streams.stream("network"));
    const keys = new Keys("sim");
    this.#ledger = new Ledger(keys);
    this.#surroundings = {
      scenario,
      knobs: this.knobs,
      terms,
      keys,
      parameters: {
        shards: scenario.fleet.shards,
        replicas: scenario.fleet.replicas,
        primary: scenario.fleet.primary,
        placement: scenario.repositories?.placement ?? scenario.loads?.placement ?? {},
      },
      placement: placementNamed(scenario.fleet.placement, SERVICE)!,
      own: options.own,
      streams,
      scheduler,
      network,
      store,
      listeners: new Map(),
      resources: new Resources(emit, { checksEpochs: options.own.epochCheck }),
      auction:
        scenario.repositories && new AuctionWorld(scenario.repositories, scenario.fleet.shards, streams),
      loads: scenario.loads && new ShardLoads(scenario.loads, scenario.fleet.shards, streams.within("loads")),
      emit,
    };
    this.nodes = this.#makeNodes();
    this.#supervisor = new Supervisor(scheduler, this.nodes);
    this.workload = new Workload(
      scenario.workload,
      { name: SERVICE, shards: scenario.fleet.shards, replicas: scenario.fleet.replicas },
      emit,
    );
    this.injector = new FaultInjector(scenario.faults, {
      scheduler,
      streams: streams.within("faults"),
      network,
      store,
      storeClock,
      supervisor: this.#supervisor,
      ttlMs: terms.ttlMs,
      rateOf: (machine, howFar) => clockRate(this.knobs, machine, howFar),
      membershipOf: (node) => this.#ledger.members.get(node)?.session,
      emit,
    });
    this.operations = new PlannedOperations(
      scenario.operations,
      scheduler,
      this.#supervisor,
      streams.within("operations"),
      this.#surroundings.loads,
    );
    this.autoscaler = this.#makeAutoscaler();
    const scene = this.#scene();
    this.checkers = makeCheckers(scenario.checkers, scene);
    for (const checker of this.checkers) this.#listen(checker);
    for (const listener of options.watch?.(scene) ?? []) this.#listen(listener);
    this.#listen(this.#supervisor);
    this.#listen(this.injector);
  }

  /** Runs for that long in virtual time. `onProgress` is called now and then with the time reached. */
  async run(forMs: number, onProgress?: (nowMs: number) => void): Promise<void> {
    this.#begin();
    for (let at = 0; at < forMs && !this.#enough(); at = Math.min(forMs, at + progressMs)) {
      await this.scheduler.run(Math.min(forMs, at + progressMs));
      onProgress?.(this.scheduler.now);
    }
  }

  #begin(): void {
    const { scenario } = this.#options;
    const { streams, scheduler } = this.#surroundings;
    const starts = streams.stream("starts");
    for (const node of this.nodes.slice(0, scenario.fleet.nodes))
      this.#supervisor.startLater(node, uniform(starts, [0, 2_000]));
    for (let i = 1; i <= scenario.workload.clients; i++) {
      const client = new SimProcess(`client${i}`, scheduler, this.#clock(`client${i}`));
      client.start();
      const router = this.#options.makeRouter(this.#surroundings, client);
      // Clients begin when a fleet that is well has had time to form.
      scheduler.after(warmUpTtls * this.#surroundings.terms.ttlMs, () =>
        this.workload.start(client, router, streams.within(client.name)),
      );
    }
    new Quiet(scenario.quiet, {
      scheduler,
      injector: this.injector,
      operations: this.operations,
      supervisor: this.#supervisor,
      emit: this.#surroundings.emit,
      report: (subject, text) => this.#report("converged", subject, text),
    }).start(warmUpTtls * this.#surroundings.terms.ttlMs);
    const tick = (): void => {
      this.#emit({ kind: "second" });
      scheduler.after(1_000, tick);
    };
    scheduler.after(1_000, tick);
  }

  #makeNodes(): SimNode[] {
    const { scenario } = this.#options;
    const { scheduler, emit, listeners } = this.#surroundings;
    const make = this.#options.makeNode(this.#surroundings);
    return Array.from({ length: scenario.fleet.nodes + scenario.fleet.spares }, (_, i) => {
      const name = `n${i + 1}`;
      const process = new SimProcess(name, scheduler, this.#clock(name));
      const node = new SimNode(
        name,
        {
          zone: `z${(i % scenario.fleet.zones) + 1}`,
          service: SERVICE,
          replicas: scenario.fleet.replicas,
        },
        process,
        make,
        emit,
      );
      listeners.set(node.address, node);
      return node;
    });
  }

  #makeAutoscaler(): Autoscaler | undefined {
    const { auction: world, scheduler, store, keys } = this.#surroundings;
    const ports = { scheduler, supervisor: this.#supervisor, store, keys, service: SERVICE };
    return world && new Autoscaler(world.scenario.autoscaler, { ...ports, world });
  }

  #clock(name: string): MachineClock {
    const random = new Streams(this.#options.seed).stream(`clock/${name}`);
    return new MachineClock({
      rate: clockRate(this.knobs, name === "store" ? "store" : "node", uniform(random, [-1, 1])),
      offsetMs: Math.floor(uniform(random, [1_000, 10_000_000])),
      wallMs: 1_700_000_000_000 + Math.floor(uniform(random, [-60_000, 60_000])),
    });
  }

  #emit(event: SimEvent): void {
    if (event.kind === "store-changed") this.#ledger.apply(event.batch);
    else if (event.kind === "node" && event.how !== "start") this.#surroundings.auction?.ended(event.node);
    else if (event.kind === "store-recovered")
      this.#ledger.reload(this.#surroundings.store.core.snapshot().entries);
    this.trace.event(event);
    this.tally.count(event);
    const listeners = this.#listeners.get(event.kind);
    if (listeners) for (const listener of listeners) listener(event);
  }

  #listen(listener: Pick<Checker, "hears" | "on">): void {
    for (const kind of listener.hears) {
      const others = this.#listeners.get(kind) ?? [];
      this.#listeners.set(kind, [...others, (event) => listener.on(event)]);
    }
  }

  #scene(): Scene {
    const { scheduler, terms, parameters, placement, resources } = this.#surroundings;
    const { service } = this.#options.scenario;
    const replicas: ReplicaKey[] = shardIds(parameters).flatMap((shard) =>
      Array.from({ length: parameters.replicas }, (_, i) => replicaKey(SERVICE, shard, i)),
    );
    return {
      now: () => scheduler.now,
      nodes: this.nodes,
      ledger: this.#ledger,
      resources,
      terms,
      service: {
        name: SERVICE,
        parameters,
        placement,
        plan: (view) => placement.plan(view, this.#ledger.chunks(SERVICE)),
        replicas,
        openMsMax: service.prepareMs[1] + service.activateMs[1],
      },
      entries: () => this.#surroundings.store.core.snapshot().entries,
      sessionsOpened: () => this.#surroundings.store.sessionsOpened,
      driftMax: 2 * this.knobs.drift,
      ...(this.#surroundings.auction ? { auction: this.#surroundings.auction } : {}),
      ...(this.#surroundings.loads ? { loads: this.#surroundings.loads } : {}),
      soon: (run) => void scheduler.after(0, run),
      report: (checker, subject, text) => this.#report(checker, subject, text),
    };
  }

  #report(checker: string, subject: string, text: string): void {
    const violation: Violation = { checker, atMs: this.scheduler.now, subject, text };
    this.violations.push(violation);
    this.trace.line("check", "violation", subject, `${checker}: ${text}`);
    this.#options.onViolation?.(violation);
    if (this.#enough()) this.scheduler.stop();
  }

  #enough(): boolean {
    return this.violations.length >= (this.#options.violationsMax ?? Infinity);
  }
}

function networkTerms(knobs: Knobs, terms: Terms): ConstructorParameters<typeof Network>[1] {
  return {
    floorMs: knobs.floorMs,
    meanMs: knobs.meanMs,
    spikes: knobs.spikes,
    spikeMs: [1, knobs.spikeMs],
    lateMs: [1, knobs.lateTtls * terms.ttlMs],
  };
}

/** Half of all draws are as far off as the run allows: the extremes are where rules break. Store and nodes together stay below the 5 % that the protocol assumes. */
function clockRate(knobs: Knobs, machine: "node" | "store", howFar: number): number {
  const share = Math.max(-1, Math.min(1, 2 * howFar));
  return 1 + share * (machine === "store" ? knobs.drift / 2 : knobs.drift);
}

const progressMs = 60_000;
/** An era opens after one TTL; the first plan is carried out well within the second. */
const warmUpTtls = 3;
