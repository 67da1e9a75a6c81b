import { fork, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { NodeProcessMessage, NodeProcessOptions } from "./node-process.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** A node process and what it has said. */
export interface NodeProcess {
  readonly name: string;
  readonly child: ChildProcess;
  joined: Promise<void>;
  left: Promise<void>;
}

/** A fleet of real processes for the failover bench: a store and nodes, started, killed, stopped and drained by name. */
export class ProcessFleet {
  readonly nodes = new Map<string, NodeProcess>();
  readonly #options: Omit<NodeProcessOptions, "node">;
  readonly #stop: () => Promise<void>;

  private constructor(options: Omit<NodeProcessOptions, "node">, stop: () => Promise<void>) {
    this.#options = options;
    this.#stop = stop;
  }

  get store(): string {
    return this.#options.store;
  }

  /** On an embedded store in a process of its own, in a temporary folder. */
  static async onEmbedded(options: Omit<NodeProcessOptions, "node" | "store">): Promise<ProcessFleet> {
    const folder = await mkdtemp(join(tmpdir(), "keelson-bench-"));
    const child = fork(join(HERE, "store-process.js"), [join(folder, "store")]);
    const { url } = await new Promise<{ url: string }>((resolve, reject) => {
      child.once("message", (message) => resolve(message as { url: string }));
      child.once("exit", (code) => reject(new Error(`the store process ended with ${code}`)));
    });
    return new ProcessFleet({ ...options, store: url }, async () => {
      child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    });
  }

  /** On a store that somebody else started. */
  static on(options: Omit<NodeProcessOptions, "node">, stop: () => Promise<void>): ProcessFleet {
    return new ProcessFleet(options, stop);
  }

  /** Starts a node and waits until it is a member. */
  async start(name: string): Promise<NodeProcess> {
    const child = fork(join(HERE, "node-process.js"), [
      JSON.stringify({ ...this.#options, node: name } satisfies NodeProcessOptions),
    ]);
    const said = (kind: NodeProcessMessage["kind"]): Promise<void> =>
      new Promise((resolve, reject) => {
        child.on("message", (message: NodeProcessMessage) => {
          if (message.kind === kind) resolve();
          if (message.kind === "failed") reject(new Error(`node ${name}: ${message.why}`));
        });
        child.once("exit", (code, signal) =>
          reject(new Error(`node ${name} ended (${code ?? signal}) before it had ${kind}`)),
        );
      });
    const node: NodeProcess = { name, child, joined: said("joined"), left: said("left") };
    node.left.catch(() => undefined); // A killed node never says so.
    this.nodes.set(name, node);
    await node.joined;
    return node;
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.nodes.get(name)?.child.kill(signal);
    if (signal === "SIGKILL") this.nodes.delete(name);
  }

  /** Asks a node to leave, and waits until it holds nothing. */
  async drain(name: string): Promise<void> {
    const node = this.nodes.get(name)!;
    node.child.send("leave");
    await node.left;
    this.nodes.delete(name);
    node.child.kill("SIGKILL");
  }

  async stop(): Promise<void> {
    for (const { child } of this.nodes.values()) child.kill("SIGKILL");
    this.nodes.clear();
    await this.#stop();
  }
}
