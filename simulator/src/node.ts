import type { Decision, Epoch, NodeReply, NodeRequest, ReplicaKey } from "@keelson/kernel";
import type { NodeProbe } from "./checkers/checker.ts";
import type { Emit } from "./events.ts";
import type { SimProcess } from "./process.ts";

/** What the simulator needs of a node driver. `KeelsonNode` of the runtime is one; tests of the simulator itself use a toy. */
export interface NodeDriver {
  start(): Promise<void>;
  /** Resolves when nothing is held any more. */
  leave(): Promise<void>;
  abandon(): void;
  /** Its service cannot work here until `resume`. A toy need not know. */
  suspend?(service: string, reason: string): void;
  resume?(service: string): void;
  handle(request: NodeRequest): Promise<NodeReply>;
  check(replica: ReplicaKey): boolean;
  checkWrite(replica: ReplicaKey): boolean;
  held(): Iterable<{ readonly replica: ReplicaKey; readonly epoch: Epoch; readonly phase: string }>;
}

/** What survives a restart on a machine: the node's own notes, as a file would keep them. */
export interface Disk {
  content: unknown;
}

/** Makes the driver for the life that has just begun on that machine. */
export type NodeFactory = (node: SimNode) => NodeDriver;

/**
 * One machine of the fleet and the node that runs on it: started, left, killed and started again. The driver is new in every life; the disk and the clocks stay.
 */
export class SimNode implements NodeProbe {
  readonly name: string;
  readonly address: string;
  readonly zone: string;
  readonly process: SimProcess;
  readonly disk: Disk = { content: undefined };
  capacity = 1;
  readonly #service: string;
  readonly #replicas: number;
  readonly #make: NodeFactory;
  readonly #emit: Emit;
  #driver: NodeDriver | undefined;
  #leaving = false;
  /** How many reasons its service has not to work here, in this life. */
  #suspensions = 0;

  constructor(
    name: string,
    place: { zone: string; service: string; replicas: number },
    process: SimProcess,
    make: NodeFactory,
    emit: Emit,
  ) {
    this.name = name;
    this.address = `${name}:1`;
    this.zone = place.zone;
    this.#service = place.service;
    this.#replicas = place.replicas;
    this.process = process;
    this.#make = make;
    this.#emit = emit;
    process.onResume = () => emit({ kind: "regained", node: name });
  }

  get up(): boolean {
    return this.process.up;
  }

  get paused(): boolean {
    return this.process.paused;
  }

  get leaving(): boolean {
    return this.#leaving;
  }

  /** Requires that it is down. */
  start(): void {
    this.process.start();
    this.#leaving = false;
    this.#suspensions = 0;
    const life = this.process.life;
    const driver = this.#make(this);
    this.#driver = driver;
    this.#emit({ kind: "node", node: this.name, how: "start" });
    driver.start().catch((error: unknown) => {
      if (life === this.process.life) this.failed(error);
    });
  }

  /** The driver gave up for good: its process ends, and its machine starts another. */
  failed(error: unknown): void {
    if (!this.up) return;
    this.#emit({ kind: "decision", node: this.name, decision: gaveUp(this, error) });
    this.#end("refused-to-start");
  }

  crash(): void {
    if (this.up) this.#end("crash");
  }

  /** Asks it to leave; its process ends when nothing is held. `then` is told when it is down, however that came. */
  leave(then: () => void): void {
    const driver = this.#driver;
    if (!driver || !this.up || this.#leaving) return;
    this.#leaving = true;
    const life = this.process.life;
    this.process.atEnd(then);
    driver.leave().then(
      () => {
        if (life === this.process.life) this.#end("left");
      },
      (error: unknown) => {
        throw new Error(`${this.name} failed to leave`, { cause: error });
      },
    );
  }

  /** Its service cannot work here until the result is called, or another life begins. */
  suspend(): () => void {
    const { life } = this.process;
    this.#suspensions += 1;
    this.#driver?.suspend?.(this.#service, "it was told so");
    return () => {
      if (life !== this.process.life) return;
      this.#suspensions -= 1;
      if (this.#suspensions === 0) this.#driver?.resume?.(this.#service);
    };
  }

  handle(request: NodeRequest): Promise<NodeReply> {
    if (!this.#driver) return Promise.resolve({ kind: "not-owner" });
    return this.#driver.handle(request);
  }

  check(replica: ReplicaKey): boolean {
    return this.#driver?.check(replica) ?? false;
  }

  checkWrite(shard: string): boolean {
    if (!this.#driver) return false;
    for (let replica = 0; replica < this.#replicas; replica++)
      if (this.#driver.checkWrite(`${shard}/${replica}`)) return true;
    return false;
  }

  held(): Iterable<{ readonly replica: ReplicaKey; readonly epoch: Epoch; readonly phase: string }> {
    return this.#driver?.held() ?? [];
  }

  #end(how: "crash" | "left" | "refused-to-start"): void {
    this.#driver?.abandon();
    this.#driver = undefined;
    this.process.crash();
    this.#emit({ kind: "node", node: this.name, how });
  }
}

function gaveUp(node: SimNode, error: unknown): Decision {
  return {
    at: node.process.clock.wall(),
    node: node.name,
    kind: "refused",
    reason: `gave up: ${String(error)}`,
  };
}
