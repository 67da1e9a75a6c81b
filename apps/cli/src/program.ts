/** The `keelson` program: its flags and commands, apart from doing anything. docs/reference/cli.md lists the same. */
import { Command } from "commander";
import { COMMANDS } from "./commands/catalogue.ts";
import { SERVICES } from "./services.ts";
import { version } from "./version.ts";

/** `only` is the command that will run; of the others just the names are known. Left out, all of them are loaded, apart from services' verbs. */
export async function keelson(only?: string): Promise<Command> {
  const program = new Command("keelson")
    .description("Runs stateful shards on a fleet of machines.")
    .version(version(), "-V, --version", "print the version")
    .option("--debug", "print every decision, and where a failure came from")
    .helpOption("-h, --help", "print this, or a command's help")
    .configureHelp({ showGlobalOptions: true });
  for (const { name, group, about, load } of COMMANDS) {
    const command = only === undefined || only === name ? await load() : new Command(name);
    program.addCommand(command.description(about).helpGroup(`${group}:`).copyInheritedSettings(program));
  }
  for (const service of SERVICES) {
    const command =
      only === service.name
        ? (await import("./commands/service-verbs.ts")).serviceCommand(await service.load())
        : new Command(service.name);
    program.addCommand(
      command.description(service.about).helpGroup("Services:").copyInheritedSettings(program),
    );
  }
  program.helpCommand(false);
  tame(program);
  return program;
}

/** What goes wrong is thrown, for main to tell in one line. */
function tame(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  command.showSuggestionAfterError(true);
  for (const each of command.commands) tame(each);
}

/** The first word of a command line that is no flag: the command, as far as one can tell without knowing any. */
export function commandOf(args: readonly string[]): string {
  const words = args[0] === "help" ? args.slice(1) : args;
  return words.find((word) => !word.startsWith("-")) ?? "";
}
