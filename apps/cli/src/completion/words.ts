/** What can be typed after `keelson`, as data: commands with their flags and what those take. Each shell's script is written from it. */
import type { Command } from "commander";

export interface CompletionWords {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly FlagWords[];
  /** Words that may follow: subcommands of a service, shells of `completion`. */
  readonly follow: readonly string[];
}

export interface FlagWords {
  readonly long: string;
  readonly about: string;
  readonly takes: "nothing" | "text" | "file" | "folder" | readonly string[];
}

export function completionWords(program: Command): CompletionWords[] {
  return program.commands.map((command) => ({
    name: command.name(),
    about: command.description(),
    flags: command.options.flatMap((option) => {
      if (option.long === undefined || option.long === null) return [];
      return [
        { long: option.long, about: option.description, takes: takes(option.flags, option.argChoices) },
      ];
    }),
    follow: [
      ...command.commands.map((each) => each.name()),
      ...command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
    ],
  }));
}

function takes(flags: string, choices: readonly string[] | undefined): FlagWords["takes"] {
  if (choices) return choices;
  if (flags.includes("<file>")) return "file";
  if (flags.includes("<folder>")) return "folder";
  return /[<[]/.test(flags) ? "text" : "nothing";
}
