/** A fleet of real processes on a store, and clients of it, for tests of faults: everything that was started ends with `stop`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectJobs, type JobsClient } from "@keelson/jobs";
import { startEtcd } from "@keelson/testkit/servers";
import { stopAll } from "../process/keelson-process.ts";
import { startStore } from "../process/store-process.ts";
import { JobsProcesses, type JobsProcessesOptions } from "./jobs-processes.ts";

/** Of the long form of a test; undefined: the short one. */
export const LONG_MS =
  process.env["KEELSON_JOBS_FAULTS_S"] === undefined
    ? undefined
    : Number(process.env["KEELSON_JOBS_FAULTS_S"]) * 1_000;

interface Opened {
  readonly url: string;
  stop(): Promise<void>;
}

export const STORES: Readonly<Record<string, () => Promise<Opened>>> = {
  embedded: async () => {
    const folder = mkdtempSync(join(tmpdir(), "keelson-e2e-store-"));
    const { url } = await startStore(folder);
    return {
      url,
      stop: () => {
        rmSync(folder, { recursive: true, force: true });
        return Promise.resolve();
      },
    };
  },
  etcd: async () => {
    const etcd = await startEtcd({ electionMs: 100 });
    return { url: `etcd://127.0.0.1:${etcd.port}`, stop: () => etcd.stop() };
  },
};

export class FaultScene {
  readonly fleet: JobsProcesses;
  readonly #store: Opened;
  readonly #clients: JobsClient[] = [];

  private constructor(store: Opened, options: JobsProcessesOptions) {
    this.#store = store;
    this.fleet = new JobsProcesses(store.url, options);
  }

  static async start(
    store: string,
    nodes: readonly string[],
    options: JobsProcessesOptions = {},
  ): Promise<FaultScene> {
    const scene = new FaultScene(await STORES[store]!(), options);
    try {
      await Promise.all(nodes.map((node) => scene.fleet.start(node)));
      return scene;
    } catch (error) {
      await scene.stop();
      throw error;
    }
  }

  async connect(timeoutMs = 90_000): Promise<JobsClient> {
    const nodes = [...this.fleet.addresses.values()];
    const client = await connectJobs({ nodes, timeoutMs, connectTimeoutMs: 60_000 });
    this.#clients.push(client);
    return client;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close({ graceMs: 0 })));
    await this.fleet.stop();
    await stopAll();
    await this.#store.stop();
  }
}
