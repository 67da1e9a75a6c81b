/** A program: makes sure that the servers named as arguments (all, without arguments) are installed. `npm test` runs it before the tests. */
import { SERVER_NAMES, ServersMissingError, ensureServers, type ServerName } from "./debian.ts";

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !SERVER_NAMES.includes(name as ServerName));

try {
  if (unknown.length > 0)
    throw new ServersMissingError(`no server ${unknown.join(", ")}: it is one of ${SERVER_NAMES.join(", ")}`);
  await ensureServers(asked.length > 0 ? (asked as ServerName[]) : SERVER_NAMES, (line) =>
    process.stderr.write(`keelson: ${line}\n`),
  );
} catch (error) {
  if (!(error instanceof ServersMissingError)) throw error;
  process.stderr.write(`keelson: ${error.message}\n`);
  process.exitCode = 1;
}
