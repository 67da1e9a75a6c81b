/** The processes of a fault bench: the store, the shared resource, and nodes that reach the store through a proxy each. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Rules } from "@keelson/kernel";
import { TcpProxy } from "@keelson/testkit";
import { Child } from "../process/child.ts";
import { startStore, type BenchStore, type StoreName } from "../store/bench-store.ts";
import { FleetNode } from "./fleet-node.ts";
import { HISTORY_ENDING } from "./history.ts";
import type { ResourceProcessOptions, ResourceProcessSaid } from "./resource-process.ts";
import { WallClock } from "./wall-clock.ts";

export interface FaultFleetOptions {
  readonly store: StoreName;
  readonly nodes: number;
  readonly shards: number;
  readonly ttlMs: number;
  /** The rule that is switched off, of the kernel or of the resource. */
  readonly broken: keyof Rules | "epochCheck" | undefined;
  /** libfaketime, where there is one. */
  readonly faketime: string | undefined;
  readonly progress: (line: string) => void;
}

export class FaultFleet {
  static readonly fleet = "faults";
  readonly store: BenchStore;
  readonly nodes: readonly FleetNode[];
  /** Where the processes write down what they do. */
  readonly history: string;
  readonly #resource: Child<ResourceProcessSaid>;

  private constructor(
    store: BenchStore,
    nodes: readonly FleetNode[],
    history: string,
    resource: Child<ResourceProcessSaid>,
  ) {
    this.store = store;
    this.nodes = nodes;
    this.history = history;
    this.#resource = resource;
  }

  static async start(options: FaultFleetOptions): Promise<FaultFleet> {
    const { nodes: count, shards, ttlMs, broken, faketime, progress } = options;
    const folder = await mkdtemp(join(tmpdir(), "keelson-faults-"));
    const store = await startStore(options.store, { progress, fsync: false });
    const resource = new Child<ResourceProcessSaid>("the resource", "faults/resource-process.js", {
      history: join(folder, `resource${HISTORY_ENDING}`),
      checksEpochs: broken !== "epochCheck",
    } satisfies ResourceProcessOptions);
    const { address } = await resource.says("serving");
    const proxies = await Promise.all(Array.from({ length: count }, () => TcpProxy.open(store.port)));
    const nodes = proxies.map((proxy, n) => {
      const node = String.fromCodePoint("a".codePointAt(0)! + n);
      return new FleetNode({
        folder,
        proxy,
        progress,
        wallClock:
          faketime === undefined ? undefined : new WallClock(join(folder, `${node}.clock`), faketime),
        process: {
          fleet: FaultFleet.fleet,
          node,
          store: store.url(proxy.port),
          resource: address,
          shards,
          ttlMs,
          broken: broken === "epochCheck" ? undefined : broken,
        },
      });
    });
    return new FaultFleet(store, nodes, folder, resource);
  }

  /** Resolves when every node is a member. */
  async joined(): Promise<void> {
    await Promise.all(this.nodes.map(async (node) => node.child?.says("joined")));
  }

  addresses(): string[] {
    return this.nodes.flatMap(({ address }) => address ?? []);
  }

  /** Ends the processes. The history stays until `forget`. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
    await this.#resource.kill();
    await this.store.stop();
  }

  forget(): Promise<void> {
    return rm(this.history, { recursive: true, force: true });
  }
}
