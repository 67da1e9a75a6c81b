/**
 * One node of the fault bench, through all the lives of its process: its proxy to the store, its wall clock, its files. A process that ends by itself is
 * started again, as a service manager would, and counted.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TcpProxy } from "@keelson/testkit";
import { Child } from "../process/child.ts";
import { HISTORY_ENDING } from "./history.ts";
import type { NodeProcessOptions, NodeProcessSaid } from "./node-process.ts";
import type { WallClock } from "./wall-clock.ts";

export interface FleetNodeOptions {
  readonly process: Omit<NodeProcessOptions, "history" | "memory">;
  readonly folder: string;
  readonly proxy: TcpProxy;
  readonly wallClock: WallClock | undefined;
  readonly progress: (line: string) => void;
}

const RESTART_MS = 300;

export class FleetNode {
  readonly name: string;
  readonly proxy: TcpProxy;
  readonly wallClock: WallClock | undefined;
  /** Processes that ended by a mistake of ours. */
  crashes = 0;
  /** Processes that ended because the node said that it cannot go on. */
  refusals = 0;
  readonly #options: FleetNodeOptions;
  readonly #memory: string;
  #child: Child<NodeProcessSaid> | undefined;
  #lives = 0;
  #closed = false;

  constructor(options: FleetNodeOptions) {
    this.#options = options;
    this.name = options.process.node;
    this.proxy = options.proxy;
    this.wallClock = options.wallClock;
    this.#memory = join(options.folder, `${this.name}.note`);
    this.#launch();
  }

  /** The process that runs now. */
  get child(): Child<NodeProcessSaid> | undefined {
    return this.#child;
  }

  /** Where it listens, once it does. */
  get address(): string | undefined {
    return this.#child?.told("listening")?.address;
  }

  /** SIGKILL, then a new life. */
  async replace(downMs: number, remembers: boolean): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    await child?.kill();
    if (!remembers) rmSync(this.#memory, { force: true });
    await sleep(downMs);
    this.#launch();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#child?.kill();
    await this.proxy.close();
  }

  #launch(): void {
    if (this.#closed) return;
    this.#lives++;
    const { folder, process, wallClock } = this.#options;
    const child = new Child<NodeProcessSaid>(
      `node ${this.name}`,
      "faults/node-process.js",
      {
        ...process,
        history: join(folder, `${this.name}-${this.#lives}${HISTORY_ENDING}`),
        memory: this.#memory,
      } satisfies NodeProcessOptions,
      wallClock?.environment,
    );
    this.#child = child;
    child.says("failed").then(
      ({ why }) => this.#again(child, `gave up: ${why}`, () => this.refusals++),
      () => this.#again(child, `ended by itself: ${child.errors}`, () => this.crashes++),
    );
  }

  /** Unless it was us who ended it. */
  async #again(child: Child<NodeProcessSaid>, why: string, count: () => void): Promise<void> {
    if (this.#child !== child || this.#closed) return;
    count();
    this.#options.progress(`node ${this.name} ${why}`);
    await this.replace(RESTART_MS, true);
  }
}
