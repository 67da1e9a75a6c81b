/** The command `npm run sim`: runs one scenario in virtual time and says whether a promise was broken. */

import { BREAKABLE } from "./breaks.ts";
import { readArguments, usage } from "./command/arguments.ts";
import { runCommand } from "./command/run.ts";
import { loadScenario, scenarioNames } from "./scenario/files.ts";

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

const request = readArguments(process.argv.slice(2), scenarioNames());

switch (request.kind) {
  case "help":
    process.stdout.write(usage());
    break;
  case "list-rules":
    for (const { name, about } of BREAKABLE) process.stdout.write(`${name.padEnd(20)} ${about}\n`);
    break;
  case "list-scenarios":
    for (const name of scenarioNames())
      process.stdout.write(`${name.padEnd(20)} ${loadScenario(name).about}\n`);
    break;
  case "mistake":
    process.stderr.write(`sim: ${request.message}\n`);
    process.exitCode = 2;
    break;
  case "run":
    process.exitCode = await runCommand(request.options);
}
