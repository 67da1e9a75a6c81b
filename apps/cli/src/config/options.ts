/** A command's settings as flags, with the words that say where else they may stand. */
import { Option, type Command } from "commander";
import { settingsOf, variableOf, type ConfiguredCommand } from "./settings.ts";

export function withSettings(command: Command, name: ConfiguredCommand): Command {
  command.option("--config <file>", "a TOML file with any of the settings below");
  for (const [key, { value, about, isDeniable }] of Object.entries(settingsOf(name))) {
    command.addOption(new Option(`--${key}${value === "" ? "" : ` ${value}`}`, about));
    if (isDeniable === true) command.addOption(new Option(`--no-${key}`, `the opposite of --${key}`));
  }
  return command.addHelpText(
    "after",
    `\nEach setting may also stand in the config file, by its name, or in the environment, as ${variableOf("listen")} does; flags win, then the environment.`,
  );
}

/** What the command line says, apart from the file that it names. */
export function flagsOf(options: Readonly<Record<string, unknown>>): {
  file: string | undefined;
  flags: Record<string, unknown>;
} {
  const { config, ...flags } = options;
  return { file: typeof config === "string" ? config : undefined, flags };
}
