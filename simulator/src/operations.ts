import type { Random } from "@keelson/kernel";
import type { ShardLoads } from "./balance/loads.ts";
import { exponential, pick, uniform, weighted } from "./chance/draw.ts";
import type { Streams } from "./chance/streams.ts";
import type { OperationKind, Scenario } from "./scenario/scenario.ts";
import type { Supervisor } from "./supervisor.ts";
import type { Scheduler } from "./time/scheduler.ts";

/** What operators and users do on an ordinary day: rolling restarts, new nodes, nodes that go, other capacities, other loads. None of it may fail a request. */
export class PlannedOperations {
  readonly #terms: Scenario["operations"];
  readonly #scheduler: Scheduler;
  readonly #supervisor: Supervisor;
  readonly #when: Random;
  readonly #what: Random;
  readonly #loads: ShardLoads | undefined;
  readonly #counts = new Map<OperationKind, number>();
  #on = false;

  constructor(
    terms: Scenario["operations"],
    scheduler: Scheduler,
    supervisor: Supervisor,
    streams: Streams,
    loads?: ShardLoads,
  ) {
    this.#terms = terms;
    this.#scheduler = scheduler;
    this.#supervisor = supervisor;
    this.#when = streams.stream("when");
    this.#what = streams.stream("what");
    this.#loads = loads;
    if (terms.perMinute > 0) this.#next();
  }

  get counts(): ReadonlyMap<OperationKind, number> {
    return this.#counts;
  }

  resume(): void {
    this.#on = true;
  }

  stop(): void {
    this.#on = false;
  }

  #next(): void {
    this.#scheduler.after(exponential(this.#when, 60_000 / this.#terms.perMinute), () => {
      if (this.#on) this.#operate(weighted(this.#what, this.#terms.weights));
      this.#next();
    });
  }

  #operate(kind: OperationKind): void {
    const { settledIn, spare } = this.#supervisor;
    const downMs = uniform(this.#what, [100, 20_000]);
    const capacity = pick(this.#what, capacities);
    if (kind === "drift" || kind === "hot") this.#loads?.change(kind);
    else if (kind === "join") {
      if (spare.length === 0) return;
      const node = pick(this.#what, spare);
      node.capacity = capacity;
      this.#supervisor.start(node);
    } else {
      if (settledIn.length < stayMin) return;
      const node = pick(this.#what, settledIn);
      if (kind === "leave") this.#supervisor.retire(node);
      else if (kind === "restart") this.#supervisor.restart(node, downMs);
      else
        this.#supervisor.restart(node, downMs, () => {
          node.capacity = capacity;
        });
    }
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }
}

/** An operator does not stop the last nodes of a fleet. */
const stayMin = 3;
const capacities = [0.5, 1, 1, 2] as const;
