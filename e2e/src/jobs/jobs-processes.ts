/** A fleet of `keelson node` processes with the job queue, on any store, on one folder of objects; each node keeps its port, so that clients find it after a restart. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeelsonProcess } from "../process/keelson-process.ts";

const SHARDS = 4;
/** Long enough that a takeover ends before a worker's lease does, short enough for a test. */
const LEASE_MS = 8_000;
const TTL = "2s";

export class JobsProcesses {
  readonly folder = mkdtempSync(join(tmpdir(), "keelson-e2e-jobs-"));
  readonly addresses = new Map<string, string>();
  readonly running = new Map<string, KeelsonProcess>();
  readonly #store: string;
  readonly #config: string;

  constructor(store: string) {
    this.#store = store;
    this.#config = join(this.folder, "keelson.toml");
    writeFileSync(this.#config, `[jobs]\nshards = ${SHARDS}\nleaseMs = ${LEASE_MS}\n`);
  }

  async start(name: string): Promise<void> {
    const address = this.addresses.get(name) ?? `127.0.0.1:${await freePort()}`;
    this.addresses.set(name, address);
    const node = new KeelsonProcess([
      "node",
      "--config",
      this.#config,
      "--id",
      name,
      "--store",
      this.#store,
      "--objects",
      `file:${join(this.folder, "objects")}`,
      "--data",
      join(this.folder, name),
      "--service",
      "jobs",
      "--listen",
      address,
      "--ttl",
      TTL,
    ]);
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
