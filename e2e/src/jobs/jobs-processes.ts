/** A fleet of `keelson node` processes with the job queue, on any store, on one folder of objects; each node keeps its port, so that clients find it after a restart. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeelsonProcess } from "../process/keelson-process.ts";

export const SHARDS = 4;
/** Long enough that a takeover ends before a worker's lease does, short enough for a test. */
const LEASE_MS = 8_000;
const TTL = "2s";

export interface JobsProcessesOptions {
  /** Where objects lie when not in a folder, and what a process needs to reach them. */
  readonly objects?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** More lines of the section `[jobs]`. */
  readonly config?: readonly string[];
}

export class JobsProcesses {
  readonly folder = mkdtempSync(join(tmpdir(), "keelson-e2e-jobs-"));
  readonly addresses = new Map<string, string>();
  readonly running = new Map<string, KeelsonProcess>();
  readonly #store: string;
  readonly #config: string;
  readonly #options: JobsProcessesOptions;

  constructor(store: string, options: JobsProcessesOptions = {}) {
    this.#store = store;
    this.#options = options;
    this.#config = join(this.folder, "keelson.toml");
    const more = options.config ?? [];
    const lines = ["[jobs]", `shards = ${SHARDS}`, `leaseMs = ${LEASE_MS}`, ...more];
    writeFileSync(this.#config, `${lines.join("\n")}\n`);
  }

  async start(name: string): Promise<void> {
    const address = this.addresses.get(name) ?? `127.0.0.1:${await freePort()}`;
    this.addresses.set(name, address);
    const { objects = `file:${join(this.folder, "objects")}`, environment = {} } = this.#options;
    const node = new KeelsonProcess(
      [
        "node",
        "--config",
        this.#config,
        "--id",
        name,
        "--store",
        this.#store,
        "--objects",
        objects,
        "--data",
        join(this.folder, name),
        "--service",
        "jobs",
        "--listen",
        address,
        "--ttl",
        TTL,
      ],
      environment,
    );
    this.running.set(name, node);
    await node.says(/member of the fleet/, 60_000);
  }

  /** As the kernel does it: nothing is flushed, nothing is told. */
  async kill(name: string): Promise<void> {
    const node = this.running.get(name);
    this.running.delete(name);
    node?.signal("SIGKILL");
    await node?.ended;
  }

  /** What they printed, for a failing test. */
  get all(): string {
    return Array.from(this.running, ([name, node]) => `--- ${name}\n${node.all}`).join("\n");
  }

  async stop(): Promise<void> {
    await Promise.all([...this.running.keys()].map((name) => this.kill(name)));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
