/**
 * Carries a schedule of faults out on a fleet. A fault whose node is already down, stopped or cut off goes to the next node that can still be hurt that
 * way, so that what is counted was really done.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { BenchStore } from "../store/bench-store.ts";
import { describeFault, type Fault, type FaultKind, type ScheduledFault } from "./fault.ts";
import type { FleetNode } from "./fleet-node.ts";

/** What is wrong with a node already. */
type Ailment = "down" | "stopped" | "network";

const AILMENT: Readonly<Record<Exclude<FaultKind, "store-restart">, Ailment | undefined>> = {
  kill: "down",
  stop: "stopped",
  "black-hole": "network",
  hold: "network",
  cut: "network",
  "clock-jump": undefined,
};

export class Injector {
  readonly counts = new Map<FaultKind, number>();
  readonly #nodes: readonly FleetNode[];
  readonly #store: BenchStore;
  readonly #progress: (line: string) => void;
  readonly #ailments = new Map<FleetNode, Set<Ailment>>();
  #restarting = false;

  constructor(nodes: readonly FleetNode[], store: BenchStore, progress: (line: string) => void) {
    this.#nodes = nodes;
    this.#store = store;
    this.#progress = progress;
    for (const node of nodes) this.#ailments.set(node, new Set());
  }

  get injected(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Resolves when the last fault is over and everything runs again. */
  async run(faults: readonly ScheduledFault[]): Promise<void> {
    const began = performance.now();
    const underWay: Promise<void>[] = [];
    for (const { atMs, fault } of faults) {
      await sleep(Math.max(0, atMs - (performance.now() - began)));
      underWay.push(fault.kind === "store-restart" ? this.#restartStore(fault) : this.#hurt(fault));
    }
    await Promise.all(underWay);
  }

  async #restartStore(fault: Fault & { kind: "store-restart" }): Promise<void> {
    if (this.#restarting) return;
    this.#restarting = true;
    this.#count(fault, "the store");
    await this.#store.kill();
    await sleep(fault.downMs);
    await this.#store.restart();
    this.#restarting = false;
  }

  async #hurt(fault: Exclude<Fault, { kind: "store-restart" }>): Promise<void> {
    const ailment = AILMENT[fault.kind];
    const node = this.#target(fault.node, ailment);
    if (!node) return;
    this.#count(fault, node.name);
    if (ailment !== undefined) this.#ailments.get(node)?.add(ailment);
    await this.#carryOut(fault, node);
    if (ailment !== undefined) this.#ailments.get(node)?.delete(ailment);
  }

  async #carryOut(fault: Exclude<Fault, { kind: "store-restart" }>, node: FleetNode): Promise<void> {
    switch (fault.kind) {
      case "kill":
        return node.replace(fault.downMs, fault.remembers);
      case "stop": {
        // The same process goes on, or none: it may be killed meanwhile.
        const { child } = node;
        child?.signal("SIGSTOP");
        await sleep(fault.lastsMs);
        child?.signal("SIGCONT");
        return;
      }
      case "black-hole":
      case "hold": {
        const passage = { kind: fault.kind === "hold" ? "hold" : "swallow" } as const;
        node.proxy.set(passage, fault.ways === "both" ? undefined : fault.ways);
        await sleep(fault.lastsMs);
        node.proxy.heal();
        return;
      }
      case "cut":
        node.proxy.set({ kind: "cut-after", bytes: fault.bytes }, "down");
        return;
      case "clock-jump":
        node.wallClock?.leap(fault.seconds);
        return;
    }
  }

  #target(first: number, ailment: Ailment | undefined): FleetNode | undefined {
    const order = [...this.#nodes.slice(first), ...this.#nodes.slice(0, first)];
    return order.find((node) => {
      const ailments = this.#ailments.get(node);
      if (ailment === undefined) return true;
      // Nothing more can happen to a process that is not there, but its network may go meanwhile.
      return !ailments?.has(ailment) && !(ailment === "stopped" && ailments?.has("down"));
    });
  }

  #count(fault: Fault, whom: string): void {
    this.counts.set(fault.kind, (this.counts.get(fault.kind) ?? 0) + 1);
    this.#progress(`${this.injected}: ${whom}: ${describeFault(fault)}`);
  }
}
