/** All commands of `keelson`, with their flags: what the command line may say, apart from doing it. docs/reference/cli.md lists the same. */
import { Command } from "commander";
import { demoCommand } from "./commands/demo.ts";
import { doctorCommand } from "./commands/fleet/doctor.ts";
import { drainCommand, undrainCommand } from "./commands/fleet/drain.ts";
import { eventsCommand } from "./commands/fleet/events.ts";
import { explainCommand } from "./commands/fleet/explain.ts";
import { nodesCommand } from "./commands/fleet/nodes.ts";
import { moveCommand, pinCommand, retryCommand, unpinCommand } from "./commands/fleet/pin.ts";
import { planCommand } from "./commands/fleet/plan.ts";
import { shardsCommand } from "./commands/fleet/shards.ts";
import { statusCommand } from "./commands/fleet/status.ts";
import { topCommand } from "./commands/fleet/top.ts";
import { nodeCommand } from "./commands/node.ts";
import { storeCommand } from "./commands/store.ts";

import { version } from "./version.ts";

export { SETTINGS, variableOf } from "./config/settings.ts";
export type { Setting } from "./config/setting.ts";

export function keelson(): Command {
  const program = new Command("keelson")
    .description("Runs stateful shards on a fleet of machines.")
    .version(version(), "-V, --version", "print the version")
    .option("--debug", "print every decision, and where a failure came from")
    .helpOption("-h, --help", "print this, or a command's help")
    .commandsGroup("Run")
    .addCommand(nodeCommand())
    .addCommand(storeCommand())
    .addCommand(demoCommand())
    .commandsGroup("See")
    .addCommand(statusCommand())
    .addCommand(nodesCommand())
    .addCommand(shardsCommand())
    .addCommand(explainCommand())
    .addCommand(eventsCommand())
    .addCommand(topCommand())
    .addCommand(doctorCommand())
    .addCommand(planCommand())
    .commandsGroup("Change")
    .addCommand(drainCommand())
    .addCommand(undrainCommand())
    .addCommand(pinCommand())
    .addCommand(unpinCommand())
    .addCommand(moveCommand())
    .addCommand(retryCommand());
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ outputError: () => undefined });
    command.showSuggestionAfterError(true);
  }
  return program;
}
