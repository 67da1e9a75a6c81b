/** The `keelson` command: reads the command line, runs one command, and says in one line what went wrong. */
import { constants } from "node:os";
import { redact } from "@keelson/runtime/redact";
import { CommanderError } from "commander";
import { failureOf, oneLine } from "./failure.ts";
import { commandOf, keelson } from "./program.ts";

const program = await keelson(commandOf(process.argv.slice(2)));

/** Tells a failure, and returns the exit code. */
function tell(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version have been printed, with exit code 0; what was not understood has not.
    if (error.exitCode === 0) return 0;
    process.stderr.write(
      `keelson: ${redact(oneLine(error.message.replace(/^error: /, "")))}; see keelson --help\n`,
    );
    return 2;
  }
  const { line, exitCode } = failureOf(error);
  process.stderr.write(`keelson: ${line}\n`);
  if (program.opts<{ debug?: boolean }>().debug === true && error instanceof Error)
    process.stderr.write(`${redact(error.stack ?? "")}\n`);
  return exitCode;
}

// What nobody caught is a bug, ours or a service's. The process is in no state to go on; the fleet takes over.
process.on("uncaughtException", (error) => {
  // oxlint-disable-next-line unicorn/no-process-exit -- nothing after this can be relied on.
  process.exit(tell(error));
});

// Whoever read our output has gone away, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  // oxlint-disable-next-line unicorn/no-process-exit -- as the signal would have done.
  process.exit(128 + constants.signals.SIGPIPE);
});

try {
  if (process.argv.length <= 2) program.outputHelp();
  else await program.parseAsync(process.argv);
} catch (error) {
  process.exitCode = tell(error);
}
