import type { DecisionKind, Random } from "@keelson/kernel";
import { chance, exponential, magnitude, pick, uniform, weighted } from "../chance/draw.ts";
import type { Streams } from "../chance/streams.ts";
import type { Emit, SimEvent } from "../events.ts";
import type { Network } from "../network.ts";
import type { SimNode } from "../node.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { StoreServer } from "../store-server.ts";
import type { Supervisor } from "../supervisor.ts";
import type { MachineClock } from "../time/machine-clock.ts";
import type { Scheduler } from "../time/scheduler.ts";
import type { FaultKind, FaultRecord } from "./fault.ts";
import { drawNodeFault, type DrawnFault } from "./node-faults.ts";
import { drawStoreFault, type StoreFaultKind } from "./store-faults.ts";

export interface InjectorPorts {
  readonly scheduler: Scheduler;
  readonly streams: Streams;
  readonly network: Network;
  readonly store: StoreServer;
  readonly storeClock: MachineClock;
  readonly supervisor: Supervisor;
  readonly ttlMs: number;
  /** A rate that the run allows for that machine; −1 is the slowest, 1 the fastest. */
  readonly rateOf: (machine: "node" | "store", howFar: number) => number;
  /** The membership session under which a node is a member now. */
  readonly membershipOf: (node: string) => string | undefined;
  readonly emit: Emit;
}

/** Decisions at whose instant a fault does the most harm. */
const AMBUSHED: ReadonlySet<DecisionKind> = new Set([
  "granted",
  "adopted",
  "live",
  "ready",
  "draining",
  "unsure",
  "promoted",
  "era",
  "session",
]);

/**
 * Makes things go wrong, as often as the scenario says, drawn from the seed; faults overlap. It can be told to stop and mend everything, so that
 * the fleet is left in peace for a while.
 */
export class FaultInjector {
  readonly hears = ["decision"] as const;
  readonly #terms: Scenario["faults"];
  readonly #ports: InjectorPorts;
  readonly #when: Random;
  readonly #what: Random;
  readonly #ambush: Random;
  readonly #active = new Map<number, () => void>();
  readonly #counts = new Map<FaultKind, number>();
  readonly #mixture: Random;
  #weights: ReadonlyMap<FaultKind, number>;
  /** The same without those of the store. */
  #nodeWeights: ReadonlyMap<FaultKind, number> = new Map();
  readonly #drainOnRejoin = new Set<string>();
  #ids = 0;
  #on = false;
  #storeBusy = false;

  constructor(terms: Scenario["faults"], ports: InjectorPorts) {
    this.#terms = terms;
    this.#ports = ports;
    this.#when = ports.streams.stream("when");
    this.#what = ports.streams.stream("what");
    this.#ambush = ports.streams.stream("ambush");
    this.#mixture = ports.streams.stream("mixture");
    this.#weights = terms.weights;
    if (terms.perMinute > 0) this.#next();
  }

  get counts(): ReadonlyMap<FaultKind, number> {
    return this.#counts;
  }

  get active(): number {
    return this.#active.size + (this.#storeBusy ? 1 : 0);
  }

  /** Begins another stretch of trouble, with its own mixture of faults. */
  resume(): void {
    this.#on = true;
    this.#weights = this.#mix();
    this.#nodeWeights = new Map([...this.#weights].filter(([kind]) => !isStoreFault(kind)));
  }

  /** Nothing more goes wrong, and what is wrong is mended. A store that is down comes back in its own time. */
  stop(): void {
    this.#on = false;
    for (const end of this.#active.values()) end();
  }

  on(event: SimEvent): void {
    if (
      event.kind === "decision" &&
      event.decision.kind === "session" &&
      this.#drainOnRejoin.delete(event.node)
    ) {
      const node = this.#ports.supervisor.settledIn.find((each) => each.name === event.node);
      if (node) this.#ports.scheduler.after(0, () => this.#onNode("drain", node));
    }
    if (event.kind !== "decision" || this.#terms.ambush === 0 || !AMBUSHED.has(event.decision.kind)) return;
    if (!chance(this.#ambush, this.#terms.ambush) || !this.#on || this.#nodeWeights.size === 0) return;
    const node = this.#ports.supervisor.running.find((each) => each.name === event.node);
    if (node)
      this.#ports.scheduler.after(0, () => this.#onNode(weighted(this.#what, this.#nodeWeights), node));
  }

  /** Some kinds come much oftener than the scenario says and some much more rarely: two that are harmless one by one meet more often so. */
  #mix(): ReadonlyMap<FaultKind, number> {
    const { weights, swarm } = this.#terms;
    if (!swarm) return weights;
    return new Map(
      [...weights].map(([kind, weight]) => [kind, weight * magnitude(this.#mixture, [0.05, 5])]),
    );
  }

  #next(): void {
    this.#ports.scheduler.after(exponential(this.#when, 60_000 / this.#terms.perMinute), () => {
      if (this.#on) this.#strike();
      this.#next();
    });
  }

  #strike(): void {
    const kind = weighted(this.#what, this.#weights);
    if (isStoreFault(kind)) return this.#onStore(kind);
    const { running } = this.#ports.supervisor;
    if (running.length === 0) return;
    this.#onNode(kind, pick(this.#what, running));
  }

  #onNode(kind: FaultKind, node: SimNode): void {
    if (!node.up || isStoreFault(kind)) return;
    const { supervisor, network, ttlMs } = this.#ports;
    const restartMs = uniform(this.#what, this.#terms.restartMs);
    switch (kind) {
      case "crash":
        return this.#crash(kind, node, restartMs);
      case "double-crash": {
        const next = uniform(this.#what, [0.1, 0.9]) * ttlMs;
        this.#crash(kind, node, restartMs);
        this.#ports.scheduler.after(next, () => {
          const { running } = supervisor;
          if (this.#on && running.length > 1) this.#crash("crash", pick(this.#what, running), 2 * restartMs);
        });
        return;
      }
      case "drain": {
        const record = this.#record(kind, node.name, "");
        this.#began(record);
        supervisor.restart(node, restartMs);
        return this.#ended(record);
      }
      case "wall-step":
      case "clock-rate":
        return this.#clock(kind, node);
      case "expelled":
        return this.#expel(node);
      default:
        return this.#lasting(
          kind,
          kind === "brownout" ? undefined : node.name,
          drawNodeFault(kind, node, network, { ttlMs, lastTtls: this.#terms.lastTtls }, this.#what),
        );
    }
  }

  #crash(kind: FaultKind, node: SimNode, restartMs: number): void {
    const keepsDisk = chance(this.#what, 0.8);
    const detail = `back in ${Math.round(restartMs)} ms${keepsDisk ? "" : " without its disk"}`;
    const record = this.#record(kind, node.name, detail);
    this.#began(record);
    node.crash();
    if (!keepsDisk) node.disk.content = undefined;
    this.#ports.supervisor.startLater(node, restartMs);
    this.#ended(record);
  }

  #clock(kind: "wall-step" | "clock-rate", node: SimNode): void {
    const { storeClock, rateOf, scheduler } = this.#ports;
    const ofStore = chance(this.#what, 0.3);
    const howFar = uniform(this.#what, [-1, 1]);
    const clock = ofStore ? storeClock : node.process.machine;
    const byMs = Math.round(howFar * 86_400_000);
    const rate = rateOf(ofStore ? "store" : "node", howFar);
    const detail = kind === "wall-step" ? `by ${byMs} ms` : `to ${rate.toFixed(4)}`;
    const record = this.#record(kind, ofStore ? undefined : node.name, detail);
    this.#began(record);
    if (kind === "wall-step") clock.stepWall(byMs);
    else clock.setRate(rate, scheduler.now);
    this.#ended(record);
  }

  /** Half of the time the node is also asked to leave when it is about to join again. */
  #expel(node: SimNode): void {
    const { store, membershipOf } = this.#ports;
    const thenDrains = chance(this.#what, 0.5);
    const session = membershipOf(node.name);
    if (session === undefined || !store.up) return;
    const record = this.#record("expelled", node.name, thenDrains ? "and drained when it joins again" : "");
    this.#began(record);
    store.apply((core) => core.revoke(session));
    if (thenDrains) this.#drainOnRejoin.add(node.name);
    this.#ended(record);
  }

  #lasting(kind: FaultKind, node: string | undefined, drawn: DrawnFault): void {
    const record = this.#record(kind, node, `${drawn.detail} for ${Math.round(drawn.lastsMs)} ms`);
    this.#began(record);
    const undo = drawn.begin();
    const end = (): void => {
      if (!this.#active.delete(record.id)) return;
      undo();
      this.#ended(record);
    };
    this.#active.set(record.id, end);
    this.#ports.scheduler.after(drawn.lastsMs, end);
  }

  #onStore(kind: StoreFaultKind): void {
    const { scheduler, store, emit } = this.#ports;
    const drawn = drawStoreFault(kind, store, this.#ports.ttlMs, this.#what);
    if (this.#storeBusy) return;
    this.#storeBusy = true;
    scheduler.after(drawn.leadMs, () => {
      const record = this.#record(
        kind,
        undefined,
        `${drawn.detail}, down for ${Math.round(drawn.downMs)} ms`,
      );
      this.#began(record);
      store.stop(drawn.refuses);
      emit({ kind: "store-down" });
      scheduler.after(drawn.downMs, () => {
        this.#storeBusy = false;
        store.start(drawn.recovery);
        this.#ended(record);
      });
    });
  }

  #record(kind: FaultKind, node: string | undefined, detail: string): FaultRecord {
    return { id: ++this.#ids, kind, node, detail };
  }

  #began(fault: FaultRecord): void {
    this.#counts.set(fault.kind, (this.#counts.get(fault.kind) ?? 0) + 1);
    this.#ports.emit({ kind: "fault", edge: "begin", fault });
  }

  #ended(fault: FaultRecord): void {
    this.#ports.emit({ kind: "fault", edge: "end", fault });
  }
}

function isStoreFault(kind: FaultKind): kind is StoreFaultKind {
  return kind.startsWith("store-");
}
