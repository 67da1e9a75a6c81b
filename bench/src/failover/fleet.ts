import { Child } from "../process/child.ts";
import type { NodeProcessOptions, NodeProcessSaid } from "./node-process.ts";

/** The nodes of the failover bench, a process each: started, killed, stopped and drained by name. The store is somebody else's. */
export class ProcessFleet {
  readonly #nodes = new Map<string, Child<NodeProcessSaid>>();
  readonly #options: Omit<NodeProcessOptions, "node">;

  constructor(options: Omit<NodeProcessOptions, "node">) {
    this.#options = options;
  }

  /** Starts a node and waits until it is a member. */
  async start(name: string): Promise<void> {
    const options: NodeProcessOptions = { ...this.#options, node: name };
    const child = new Child<NodeProcessSaid>(`node ${name}`, "failover/node-process.js", options);
    this.#nodes.set(name, child);
    await Promise.race([
      child.says("joined"),
      child.says("failed").then(({ why }) => Promise.reject(new Error(`node ${name}: ${why}`))),
    ]);
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.#node(name).signal(signal);
    if (signal === "SIGKILL") this.#nodes.delete(name);
  }

  /** Asks a node to leave, and waits until it holds nothing. */
  async drain(name: string): Promise<void> {
    const node = this.#node(name);
    node.send("leave");
    await node.says("left");
    this.#nodes.delete(name);
    await node.kill();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#nodes.values()].map((node) => node.kill()));
    this.#nodes.clear();
  }

  #node(name: string): Child<NodeProcessSaid> {
    const node = this.#nodes.get(name);
    if (!node) throw new Error(`there is no node ${name}`);
    return node;
  }
}
