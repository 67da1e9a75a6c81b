/** `keelson up`: a whole fleet in this one process, until it is told to stop. The next start finds everything as it was. */
import { join, resolve } from "node:path";
import { Command } from "commander";
import pc from "picocolors";
import type { Decision } from "@keelson/kernel";
import type { KeelsonError } from "@keelson/runtime";
import { FirstRun } from "../first-run/first-run.ts";
import { formatDuration } from "../config/duration.ts";
import { loadConfig } from "../config/load.ts";
import { flagsOf, withSettings } from "../config/options.ts";
import { pluginConfig } from "../config/sections.ts";
import { loadPlugins } from "../node/plugins.ts";
import { Narrator } from "../report/narrator.ts";
import { timeOfDay } from "../report/ago.ts";
import { stopSignal } from "../stop-signal.ts";
import { LocalFleet } from "../up/local-fleet.ts";

/** What a person who only wants it to run is told without asking. */
const TOLD: readonly Decision["kind"][] = ["failed", "refused", "lost", "unsure"];

/** After everything was closed. */
const END_MS = 500;

export function upCommand(): Command {
  const command = new Command("up");
  return withSettings(command, "up").action(async (options: Record<string, unknown>) => {
    const { config, sections } = loadConfig("up", { ...flagsOf(options), environment: process.env });
    const plugins = await loadPlugins(config.service);
    const { shards } = config;
    const own = pluginConfig(plugins, sections, {
      echo: { shards },
      counter: { shards, folder: join(resolve(config.data), "shared", "counter") },
    });
    const debug = command.optsWithGlobals<{ debug?: boolean }>().debug === true;
    const make = (telling: Telling): LocalFleet =>
      new LocalFleet({ config, plugins, sections: own, ...telling });
    const firstRun = (fleet: LocalFleet): FirstRun =>
      new FirstRun({
        wanted: config.demo,
        isPlain: config.tokens === undefined && config.service.join() === "all",
        fleet: config.fleet,
        data: resolve(config.data),
        services: plugins.map(({ name }) => name),
        url: fleet.url,
        token: process.env["KEELSON_TOKEN"],
        nodes: fleet.addresses,
        say,
        problem,
      });
    await run(debug, make, firstRun);
  });
}

type Telling = Pick<ConstructorParameters<typeof LocalFleet>[0], "step" | "decided" | "problem" | "fatal">;

async function run(
  debug: boolean,
  make: (telling: Telling) => LocalFleet,
  firstRun: (fleet: LocalFleet) => FirstRun,
): Promise<void> {
  const startedAt = performance.now();
  const narrators = new Map<string, Narrator>();
  const narratorOf = (node: string): Narrator => {
    let narrator = narrators.get(node);
    if (!narrator) {
      const write = (line: string): void => say(`${timeOfDay(Date.now())} ${node}: ${line}`);
      narrators.set(node, (narrator = new Narrator({ write, everything: debug })));
    }
    return narrator;
  };
  let fatal: (error: KeelsonError) => void = () => undefined;
  const died = new Promise<never>((_, reject) => {
    fatal = reject;
  });
  // It may reject before anybody waits for it.
  died.catch(() => undefined);
  const fleet = make({
    step: (what, text) => say(`  ${pc.green("✓")} ${what.padEnd(8)} ${text}`),
    decided: (decision) => {
      if (debug || TOLD.includes(decision.kind)) narratorOf(decision.node).decided(decision);
    },
    problem,
    fatal,
  });
  const stop = stopSignal();
  const started = fleet.start();
  // Told to stop before it was up: what has begun is still brought to a good end.
  await Promise.race([started, died]);
  say(`ready in ${formatDuration(performance.now() - startedAt)}: ${pc.bold(fleet.url)}`);
  say(`  console: ${pc.bold(fleet.consoleUrl)}`);
  say(pc.dim(`  keelson status, keelson top, ${fleet.url}/docs; Ctrl-C stops it`));
  const shown = firstRun(fleet);
  const offered = shown.start();
  const signal = await Promise.race([stop, died]);
  say(`${signal}: stopping (again: at once)`);
  // What it is about to add is added, or the next start would find half of it.
  try {
    await offered;
    await shown.stop();
    await fleet.stop();
  } finally {
    endSoon();
  }
  for (const narrator of narrators.values()) narrator.flush();
  say("stopped: everything is kept for the next start");
}

/** Whatever still waits for something when all is closed, a request that is tried again say, does not keep the process. */
function endSoon(): void {
  // oxlint-disable-next-line unicorn/no-process-exit -- with the exit code that is set by then.
  setTimeout(() => process.exit(), END_MS).unref();
}

function problem(text: string): void {
  process.stderr.write(`keelson: ${text}\n`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
