/** `keelson completion <shell>`: prints a script that teaches the shell what can be typed. */
import { Argument, Command } from "commander";
import { SHELLS, completionScript, type Shell } from "../completion/scripts.ts";
import { completionWords } from "../completion/words.ts";
import { keelson } from "../program.ts";

export function completionCommand(): Command {
  return new Command("completion")
    .addArgument(new Argument("<shell>", "whose script").choices(SHELLS))
    .addHelpText(
      "after",
      `
Put one of these where your shell starts:
  bash   eval "$(keelson completion bash)"
  zsh    eval "$(keelson completion zsh)"
  fish   keelson completion fish | source`,
    )
    .action(async (shell: Shell) => {
      process.stdout.write(completionScript(shell, completionWords(await keelson())));
    });
}
