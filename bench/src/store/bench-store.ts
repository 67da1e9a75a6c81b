/**
 * The coordination store that a bench runs on: a real server in a process of its own, in a temporary folder. It can be killed and started again with
 * its data, and reached through another port than its own, because the fault bench puts a bad network in between.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ensureServers,
  startEtcd,
  startPostgres,
  startRedis,
  type TestServer,
} from "@keelson/testkit/servers";
import { Child } from "../process/child.ts";
import type { EmbeddedProcessOptions, EmbeddedProcessSaid } from "./embedded-process.ts";

export const STORE_NAMES = ["embedded", "etcd", "redis", "postgres"] as const;
export type StoreName = (typeof STORE_NAMES)[number];

export interface BenchStore {
  readonly port: number;
  /** The address of the store for a client that reaches it at this port of the loopback address. */
  url(port: number): string;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again in the same place; resolves when it answers. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface BenchStoreOptions {
  readonly progress: (line: string) => void;
  /** Postgres waits for the disk. The others do what they do by default: etcd and embedded wait, Redis syncs every second. */
  readonly fsync: boolean;
}

/** The store that an option names; undefined for any other text. */
export function storeName(text: string): StoreName | undefined {
  return STORE_NAMES.find((name) => name === text);
}

export async function startStore(name: StoreName, options: BenchStoreOptions): Promise<BenchStore> {
  switch (name) {
    case "embedded":
      return EmbeddedServer.start();
    case "etcd":
      await ensureServers([name], options.progress);
      return served(await startEtcd(), (port) => `etcd://127.0.0.1:${port}`);
    case "redis":
      await ensureServers([name], options.progress);
      return served(await startRedis(), (port) => `redis://127.0.0.1:${port}`);
    case "postgres":
      await ensureServers([name], options.progress);
      return served(
        await startPostgres({ fsync: options.fsync }),
        (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
      );
  }
}

function served(server: TestServer, url: (port: number) => string): BenchStore {
  return {
    port: server.port,
    url,
    kill: () => server.kill("SIGKILL"),
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
}

class EmbeddedServer implements BenchStore {
  readonly #folder: string;
  #child: Child<EmbeddedProcessSaid>;
  #port = 0;

  static async start(): Promise<EmbeddedServer> {
    const folder = await mkdtemp(join(tmpdir(), "keelson-bench-store-"));
    const server = new EmbeddedServer(folder);
    await server.#serving();
    return server;
  }

  private constructor(folder: string) {
    this.#folder = folder;
    this.#child = this.#launch();
  }

  get port(): number {
    return this.#port;
  }

  url(port: number): string {
    return `embedded://127.0.0.1:${port}`;
  }

  kill(): Promise<void> {
    return this.#child.kill();
  }

  async restart(): Promise<void> {
    await this.kill();
    this.#child = this.#launch();
    await this.#serving();
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #launch(): Child<EmbeddedProcessSaid> {
    const options: EmbeddedProcessOptions = { folder: join(this.#folder, "store"), port: this.#port };
    return new Child("the embedded store", "store/embedded-process.js", options);
  }

  async #serving(): Promise<void> {
    const { address } = await this.#child.says("serving");
    this.#port = Number(address.slice(address.lastIndexOf(":") + 1));
  }
}
