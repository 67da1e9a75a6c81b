import type { SimEvent } from "./events.ts";
import type { SimNode } from "./node.ts";
import type { Scheduler } from "./time/scheduler.ts";

/** Keeps the nodes running that should run: starts again what ended, as the service manager of a machine does, and carries out planned operations. */
export class Supervisor {
  readonly hears = ["node"] as const;
  readonly #scheduler: Scheduler;
  readonly #nodes: readonly SimNode[];
  readonly #wanted = new Set<SimNode>();
  /** Nodes whose start is already due, so that it is not asked for twice. */
  readonly #starting = new Set<SimNode>();

  constructor(scheduler: Scheduler, nodes: readonly SimNode[]) {
    this.#scheduler = scheduler;
    this.#nodes = nodes;
  }

  /** Those whose process exists. */
  get running(): readonly SimNode[] {
    return this.#nodes.filter((node) => node.up);
  }

  /** Machines with nothing on them that nobody wants running. */
  get spare(): readonly SimNode[] {
    return this.#nodes.filter((node) => !node.up && !this.#wanted.has(node));
  }

  /** Those that run, are meant to, and are not about to leave. One that stands still would not hear that it is asked to. */
  get settledIn(): readonly SimNode[] {
    return this.#nodes.filter((node) => node.up && !node.paused && !node.leaving && this.#wanted.has(node));
  }

  /** Everything that should run does, and nothing is leaving. */
  get complete(): boolean {
    return this.#nodes.every((node) => (this.#wanted.has(node) ? node.up && !node.leaving : !node.up));
  }

  /** What `complete` is missing, for people. */
  describeIncomplete(): string {
    const odd = this.#nodes.flatMap((node) => {
      if (!this.#wanted.has(node)) return node.up ? [`${node.name} should have left`] : [];
      return node.leaving ? [`${node.name} is still leaving`] : node.up ? [] : [`${node.name} is down`];
    });
    return odd.length === 0 ? "the store or a fault" : odd.join(", ");
  }

  start(node: SimNode): void {
    this.#wanted.add(node);
    if (!node.up) node.start();
  }

  startLater(node: SimNode, afterMs: number): void {
    this.#wanted.add(node);
    if (this.#starting.has(node)) return;
    this.#starting.add(node);
    this.#scheduler.after(afterMs, () => {
      if (!this.#starting.delete(node)) return;
      if (this.#wanted.has(node) && !node.up) node.start();
    });
  }

  /** A planned restart: leave, then start again `afterMs` after it has left. */
  restart(node: SimNode, afterMs: number, before: () => void = () => {}): void {
    node.leave(() => {
      before();
      if (this.#wanted.has(node)) this.startLater(node, afterMs);
    });
  }

  /** Leaves for good. */
  retire(node: SimNode, then: () => void = () => {}): void {
    this.#wanted.delete(node);
    node.leave(then);
  }

  /** Starts at once whatever is down and should run. */
  startAll(): void {
    this.#starting.clear();
    for (const node of this.#wanted) if (!node.up) node.start();
  }

  /** A node that would not start is tried again, as any service manager does. */
  on(event: SimEvent): void {
    if (event.kind !== "node" || event.how !== "refused-to-start") return;
    const node = this.#nodes.find((each) => each.name === event.node);
    if (node) this.startLater(node, retryStartMs);
  }
}

const retryStartMs = 1_000;
