/** The command `npm run sim`: runs one scenario in virtual time and says whether a promise was broken. */

import { BREAKABLE } from "./breaks.ts";
import { readArguments, usage } from "./command/arguments.ts";
import { runCommand } from "./command/run.ts";
import { readJobsArguments, runJobs } from "./jobs/command.ts";
import { loadScenario, scenarioNames } from "./scenario/files.ts";

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

const jobs = readJobsArguments(process.argv.slice(2));
const request =
  jobs === undefined
    ? readArguments(process.argv.slice(2), scenarioNames())
    : typeof jobs === "string"
      ? { kind: "mistake" as const, message: jobs }
      : { kind: "jobs" as const, jobs };

switch (request.kind) {
  case "jobs":
    process.exitCode = runJobs(request.jobs, (text) => void process.stdout.write(text));
    break;
  case "help":
    process.stdout.write(usage());
    break;
  case "list-rules":
    for (const { name, about } of BREAKABLE) process.stdout.write(`${name.padEnd(20)} ${about}\n`);
    break;
  case "list-scenarios":
    for (const name of scenarioNames())
      process.stdout.write(`${name.padEnd(20)} ${loadScenario(name).about}\n`);
    process.stdout.write(
      `${"jobs".padEnd(20)} the engine of the job queue; takes --seeds <n>, --seed <n> and --break <rule>\n`,
    );
    break;
  case "mistake":
    process.stderr.write(`sim: ${request.message}\n`);
    process.exitCode = 2;
    break;
  case "run":
    process.exitCode = await runCommand(request.options);
}
