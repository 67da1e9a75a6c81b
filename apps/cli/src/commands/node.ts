/** `keelson node`: one node of a fleet, until it is told to leave. */
import { Command, Option } from "commander";
import { SystemClock, ServerTimeEras, systemRandom, type KeelsonError } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import type { Store } from "@keelson/kernel";
import { formatDuration } from "../config/duration.ts";
import { parseListen } from "../config/listen.ts";
import { loadNodeConfig } from "../config/load.ts";
import { SETTINGS, SETTING_NAMES, variableOf, type NodeConfig } from "../config/settings.ts";
import { listenFailure } from "../failure.ts";
import { FolderMemory } from "../node/folder-memory.ts";
import { ServedNode } from "../node/served-node.ts";
import { loadServices } from "../node/services.ts";
import { Watchman } from "../node/watchman.ts";
import { Narrator } from "../report/narrator.ts";
import { stopSignal } from "../stop-signal.ts";

export function nodeCommand(): Command {
  const command = new Command("node")
    .description("run one node of a fleet; Ctrl-C hands over what it holds and ends it")
    .option("--config <file>", "a TOML file with any of the settings below");
  for (const name of SETTING_NAMES) {
    const { value, about } = SETTINGS[name];
    command.addOption(new Option(`--${name} ${value}`, about));
  }
  return command
    .addHelpText(
      "after",
      `\nEach setting may also stand in the config file, by its name, or in the environment, as ${variableOf("store")} does; flags win, then the environment.`,
    )
    .action(async (options: Record<string, string>) => {
      const { config: file, ...flags } = options;
      const config = loadNodeConfig({ file, environment: process.env, flags });
      await run(config, command.optsWithGlobals<{ debug?: boolean }>().debug === true);
    });
}

async function run(config: NodeConfig, debug: boolean): Promise<void> {
  const { fleet, id, data } = config;
  const services = await loadServices(config.service, config);
  const clock = new SystemClock();
  const narrator = new Narrator({ write: writeLine, everything: debug });
  const memory =
    data === undefined
      ? undefined
      : FolderMemory.open({
          folder: data,
          fleet,
          node: id,
          clock,
          onProblem: (problem) => void process.stderr.write(`keelson: ${problem}\n`),
        });
  let store: Store | undefined;
  try {
    store = await openStore(config.store, { clock, random: systemRandom, name: `node ${id}` });
    let onFatal: (error: KeelsonError) => void = () => undefined;
    const fatal = new Promise<never>((_, reject) => {
      onFatal = reject;
    });
    const served = await ServedNode.listen({
      fleet,
      node: id,
      services,
      listen: parseListen(config.listen),
      address: config.address,
      capacity: config.capacity,
      terms: { ttlMs: config.ttl },
      ...(config.zone === undefined ? {} : { zone: config.zone }),
      store,
      clock,
      random: systemRandom,
      eras: new ServerTimeEras(),
      memory,
      onDecision: (decision) => narrator.decided(decision),
      onFatal,
    }).catch((error: unknown) => {
      throw listenFailure(error, config.listen, "--listen");
    });
    await live(served, config, narrator, fatal);
  } finally {
    narrator.flush();
    await store?.close();
    memory?.close();
  }
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
  process.stdout.write(`${new Date().toTimeString().slice(0, 8)} ${line}\n`);
}
