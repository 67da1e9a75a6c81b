/** All commands of `keelson`, with their flags: what the command line may say, apart from doing it. docs/reference/cli.md lists the same. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { demoCommand } from "./commands/demo.ts";
import { nodeCommand } from "./commands/node.ts";
import { storeCommand } from "./commands/store.ts";

export { SETTINGS, SETTING_NAMES, variableOf } from "./config/settings.ts";

export function keelson(): Command {
  const program = new Command("keelson")
    .description("Runs stateful shards on a fleet of machines.")
    .version(version(), "-V, --version", "print the version")
    .option("--debug", "print every decision, and where a failure came from")
    .helpOption("-h, --help", "print this, or a command's help")
    .addCommand(demoCommand())
    .addCommand(nodeCommand())
    .addCommand(storeCommand());
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ outputError: () => undefined });
    command.showSuggestionAfterError(true);
  }
  return program;
}

function version(): string {
  const file = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
