/** `keelson node`: one node of a fleet, until it is told to leave. */
import { resolve } from "node:path";
import { Command } from "commander";
import type { Store } from "@keelson/kernel";
import { ServerTimeEras, SystemClock, systemRandom, type KeelsonError } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import { WirePool } from "@keelson/wire";
import { formatDuration } from "../config/duration.ts";
import { isLoopback, isWildcard, parseListen } from "../config/listen.ts";
import { loadConfig } from "../config/load.ts";
import { flagsOf, withSettings } from "../config/options.ts";
import { pluginConfig } from "../config/sections.ts";
import type { ConfigOf } from "../config/settings.ts";
import { openTls } from "../config/tls.ts";
import { listenFailure, UsageError } from "../failure.ts";
import { openFleetObjects, type FleetObjects } from "../node/fleet-objects.ts";
import { FolderMemory } from "../node/folder-memory.ts";
import { openLog } from "../node/log.ts";
import { requireTrust } from "../node/peer-check.ts";
import { loadPlugins } from "../node/plugins.ts";
import { serviceFolder } from "../node/service-folder.ts";
import { ServedNode, type ServedNodeOptions } from "../node/served-node.ts";
import { StatusServer } from "../node/status-server.ts";
import { openTraces } from "../node/traces.ts";
import { Watchman } from "../node/watchman.ts";
import { Narrator } from "../report/narrator.ts";
import { timeOfDay } from "../report/ago.ts";
import { stopSignal } from "../stop-signal.ts";
import { version } from "../version.ts";

type NodeConfig = ConfigOf<"node">;

export function nodeCommand(): Command {
  const command = new Command("node");
  return withSettings(command, "node").action(async (options: Record<string, unknown>) => {
    const { config, sections } = loadConfig("node", { ...flagsOf(options), environment: process.env });
    agree(config);
    const plugins = await loadPlugins(config.service);
    const { shards, shared } = config;
    const own = pluginConfig(plugins, sections, {
      echo: { shards },
      counter: { shards, ...(shared === undefined ? {} : { folder: resolve(shared) }) },
    });
    const debug = command.optsWithGlobals<{ debug?: boolean }>().debug === true;
    await run(config, { plugins, config: own }, debug);
  });
}

/** What must hold between settings. */
function agree(config: NodeConfig): void {
  if (config.address === undefined && isWildcard(parseListen(config.listen)))
    throw new UsageError(
      `--listen ${config.listen} is every address of this machine: say with --address which one others reach it by`,
    );
  if (config.address !== undefined && parseListen(config.address).port === 0)
    throw new UsageError("--address needs the port that others reach it by, not 0");
  if (config.service.includes("counter") && config.shared === undefined)
    throw new UsageError("the service counter needs --shared <folder>, the same for all its nodes");
}

async function run(
  config: NodeConfig,
  services: Pick<ServedNodeOptions, "plugins" | "config">,
  debug: boolean,
): Promise<void> {
  const { fleet, id, data } = config;
  const clock = new SystemClock();
  const random = systemRandom;
  const narrator = new Narrator({ write: writeLine, everything: debug });
  const memory = data === undefined ? undefined : openMemory(config, data, clock);
  const problem = (text: string): void => void process.stderr.write(`keelson: ${text}\n`);
  const { "tls-ca": ca, "tls-cert": cert, "tls-key": key, "tls-name": name } = config;
  const say = (line: string): void => narrator.say(line);
  const tls = openTls({ ca, cert, key, name, prefix: "tls" }, { clock, say, problem });
  const traces = openTraces(config.otlp, { node: id, clock, random });
  let store: Store | undefined;
  let objects: FleetObjects | undefined;
  try {
    if (config.objects !== undefined)
      objects = await openFleetObjects({ url: config.objects, fleet, by: id, clock, random, progress: say });
    store = await openStore(config.store, { clock, random, name: `node ${id}`, ...tls?.client });
    if (tls) await trusted({ fleet, id, store }, { clock, random, name: id, ...tls.client });
    let onFatal: (error: KeelsonError) => void = () => undefined;
    const fatal = new Promise<never>((_, reject) => {
      onFatal = reject;
    });
    const served = await ServedNode.listen({
      ...services,
      fleet,
      node: id,
      version: version(),
      listen: parseListen(config.listen),
      address: config.address,
      capacity: config.capacity,
      terms: { ttlMs: config.ttl },
      ...(config.zone === undefined ? {} : { zone: config.zone }),
      objects: objects && ((name) => objects!.service(name)),
      dataFolder: data === undefined ? undefined : (name) => serviceFolder(data, name),
      log: openLog(config.log, { fleet, node: id }),
      tls,
      onRefused: problem,
      store,
      clock,
      random,
      eras: objects?.eras ?? new ServerTimeEras(),
      memory,
      tracer: traces?.tracer,
      onDecision: (decision) => narrator.decided(decision),
      onFatal,
    }).catch((error: unknown) => {
      throw listenFailure(error, config.listen, "--listen");
    });
    const status = await openStatus(served, config, clock, narrator).catch(async (error: unknown) => {
      await served.kill();
      throw error;
    });
    try {
      await live(served, config, narrator, fatal);
    } finally {
      await status?.close();
    }
  } finally {
    narrator.flush();
    await store?.close();
    await objects?.close();
    await traces?.close();
    memory?.close();
    tls?.stop();
  }
}

/** The port for probes, when there is one. */
async function openStatus(
  served: ServedNode,
  { "status-listen": where }: NodeConfig,
  clock: SystemClock,
  narrator: Narrator,
): Promise<StatusServer | undefined> {
  if (where === undefined) return undefined;
  const ports = { condition: () => served.condition(clock), metrics: () => served.metrics() };
  const status = await StatusServer.listen(parseListen(where), ports).catch((error: unknown) => {
    throw listenFailure(error, where, "--status-listen");
  });
  narrator.say(`probes and metrics at ${status.url}`);
  return status;
}

/** Asks over connections of their own, before the node listens. */
async function trusted(
  who: Parameters<typeof requireTrust>[0],
  options: ConstructorParameters<typeof WirePool>[0],
): Promise<void> {
  const pool = new WirePool(options);
  try {
    await requireTrust(who, pool);
  } finally {
    pool.close();
  }
}

function openMemory({ fleet, id }: NodeConfig, folder: string, clock: SystemClock): FolderMemory {
  const onProblem = (problem: string): void => void process.stderr.write(`keelson: ${problem}\n`);
  return FolderMemory.open({ folder, fleet, node: id, clock, onProblem });
}

/** From joining the fleet to leaving it. */
async function live(
  served: ServedNode,
  config: NodeConfig,
  narrator: Narrator,
  fatal: Promise<never>,
): Promise<void> {
  const { fleet, id, ttl, store } = config;
  narrator.say(
    `node ${id} of fleet ${fleet} listens on ${served.address}; TTL ${formatDuration(ttl)}, store ${withoutPassword(store)}`,
  );
  if (config["tls-ca"] === undefined && !isLoopback(parseListen(config.listen).host))
    process.stderr.write(
      `keelson: whoever reaches ${served.address} can ask this node anything, it asks for no certificate: give the fleet TLS with --tls-ca, or keep it on a trusted network\n`,
    );
  const watchman = new Watchman(served.node, narrator);
  const stop = stopSignal();
  const joined = served.node.start().then(() => narrator.say("member of the fleet"));
  try {
    const signal = await Promise.race([stop, fatal, joined.then(() => stop)]);
    const held = [...served.node.held()].length;
    narrator.say(
      `${signal}: leaving; ${held} ${held === 1 ? "shard" : "shards"} to hand over (again: at once)`,
    );
    await Promise.race([served.node.leave(), fatal, watchman.storeLost(ttl)]);
    narrator.say("left: it holds nothing any more");
  } finally {
    watchman.stop();
    served.node.abandon();
    await served.close();
  }
}

/** A store's address as it may be shown: what stands before the @ is nobody's business. */
function withoutPassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, "//");
}

function writeLine(line: string): void {
  process.stdout.write(`${timeOfDay(Date.now())} ${line}\n`);
}
