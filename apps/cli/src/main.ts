/** The `keelson` command: reads the command line, runs one command, and says in one line what went wrong. */
import { CommanderError } from "commander";
import { failureOf, oneLine } from "./failure.ts";
import { keelson } from "./program.ts";

const program = keelson();

try {
  if (process.argv.length <= 2) program.outputHelp();
  else await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) {
    // Help and version have been printed, with exit code 0; what was not understood has not.
    if (error.exitCode !== 0) {
      process.stderr.write(
        `keelson: ${oneLine(error.message.replace(/^error: /, ""))}; see keelson --help\n`,
      );
      process.exitCode = 2;
    }
  } else {
    const { line, exitCode } = failureOf(error);
    process.stderr.write(`keelson: ${line}\n`);
    if (program.opts<{ debug?: boolean }>().debug === true && error instanceof Error)
      process.stderr.write(`${error.stack ?? ""}\n`);
    process.exitCode = exitCode;
  }
}
