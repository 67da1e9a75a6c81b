/**
 * The same loss of a node with `@effect/cluster`, on the same Postgres: three runners, one client that pings every entity without end, and SIGKILL. Held means
 * that another runner answered. Its packages are installed when a peer is asked for, in a folder of their own.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export interface EffectPeerOptions {
  readonly postgres: string;
  readonly kills: number;
  /** Settings of its ShardingConfig, in milliseconds; none is its defaults. */
  readonly sharding: Readonly<Record<string, number>>;
  /** What the waits are counted from, after the kill: our own TTL, so that the figures compare. */
  readonly ttlMs: number;
  readonly progress: (line: string) => void;
}

const SOURCE = fileURLToPath(new URL("../../peers/effect-cluster/", import.meta.url));
const FOLDER = fileURLToPath(
  new URL("../../../node_modules/.cache/keelson-peers/effect-cluster/", import.meta.url),
);
/** Its default is 300 shards; an entity for each, about. */
const ENTITIES = 300;
const RUNNERS = ["a", "b", "c"] as const;
const GIVE_UP_MS = 180_000;

/** The wait of every entity after the lock's life, over all kills. */
export async function effectLosses(options: EffectPeerOptions): Promise<number[]> {
  await install(options.progress);
  const fleet = new EffectFleet(options);
  try {
    await fleet.start();
    const waits: number[] = [];
    for (let i = 0; i < options.kills; i++) {
      const victim = RUNNERS[i % RUNNERS.length]!;
      const lost = await fleet.lose(victim);
      waits.push(...lost.map((ms) => ms - options.ttlMs));
      options.progress(
        `effect: SIGKILL ${i + 1} of ${options.kills}: ${lost.length} entities, slowest ${Math.round(Math.max(...lost))} ms after the kill`,
      );
      await fleet.startRunner(victim);
      await fleet.answers();
    }
    return waits;
  } finally {
    await fleet.stop();
  }
}

async function install(progress: (line: string) => void): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  for (const file of ["package.json", "member.mjs"]) await copyFile(join(SOURCE, file), join(FOLDER, file));
  progress("installing @effect/cluster");
  const npm = spawn("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: FOLDER,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(npm, "close")) as [number | null];
  if (code !== 0) throw new Error(`npm install of the peer in ${FOLDER} ended with ${code}`);
}

interface Ping {
  readonly entity: string;
  readonly runner: string;
  readonly at: number;
}

class EffectFleet {
  readonly #options: EffectPeerOptions;
  readonly #runners = new Map<string, ChildProcess>();
  readonly #last = new Map<string, Ping>();
  #client: ChildProcess | undefined;

  constructor(options: EffectPeerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    // One after the other: they create their tables when they start.
    for (const name of RUNNERS) {
      await this.startRunner(name);
      await sleep(1_000);
    }
    this.#client = await this.#spawn("client", "client");
    this.#client.on("message", (ping: Ping) => this.#last.set(ping.entity, ping));
    await this.answers();
  }

  async startRunner(name: string): Promise<void> {
    this.#runners.set(name, await this.#spawn("runner", name));
  }

  /** Waits until every runner answers for some, and all entities have been answered within the last second. */
  async answers(): Promise<void> {
    await this.#until("every entity is answered", () => {
      const fresh = [...this.#last.values()].filter(({ at }) => at > now() - 1_000);
      return fresh.length === ENTITIES && new Set(fresh.map(({ runner }) => runner)).size === RUNNERS.length;
    });
  }

  /** Kills a runner; after how many milliseconds each of its entities was answered by another. */
  async lose(name: string): Promise<number[]> {
    const lost = [...this.#last.values()].filter(({ runner }) => runner === name).map(({ entity }) => entity);
    const at = now();
    this.#runners.get(name)?.kill("SIGKILL");
    const waits = new Map<string, number>();
    await this.#until(`the entities of ${name} are answered by others`, () => {
      for (const entity of lost) {
        const ping = this.#last.get(entity);
        if (ping && ping.runner !== name && !waits.has(entity)) waits.set(entity, ping.at - at);
      }
      return waits.size === lost.length;
    });
    return [...waits.values()];
  }

  async stop(): Promise<void> {
    const children = [this.#client, ...this.#runners.values()].filter((child) => child !== undefined);
    for (const child of children) child.kill("SIGKILL");
    const running = children.filter((child) => child.exitCode === null && child.signalCode === null);
    await Promise.all(running.map((child) => once(child, "close")));
  }

  async #spawn(role: "runner" | "client", name: string): Promise<ChildProcess> {
    const { postgres, sharding } = this.#options;
    const settings = JSON.stringify({ postgres, sharding, port: await freePort(), entities: ENTITIES });
    return spawn(process.execPath, ["member.mjs", role, name, settings], {
      cwd: FOLDER,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
  }

  async #until(what: string, done: () => boolean): Promise<void> {
    const deadline = now() + GIVE_UP_MS;
    while (!done()) {
      if (now() > deadline) throw new Error(`@effect/cluster: not within ${GIVE_UP_MS / 1_000} s: ${what}`);
      await sleep(10);
    }
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
