// Sets everything up, then becomes the program asked for: `node scripts/run.mjs sim --seed 7`.
// The program runs in this very process, so Ctrl-C, exit codes and pipes behave as if it were called directly.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, setup } from "./setup.mjs";

const programs = {
  keelson: "apps/cli",
  sim: "simulator",
  bench: "bench",
};

const [name, ...args] = process.argv.slice(2);
if (!Object.hasOwn(programs, name)) {
  process.stderr.write(`keelson: run.mjs knows ${Object.keys(programs).join(", ")}; not "${name}"\n`);
  process.exit(2);
}

// Only what the program needs: who starts a fleet need not wait for the benches.
setup(programs[name]);
const main = join(root, programs[name], "dist/main.js");
process.argv = [process.argv[0], main, ...args];
await import(pathToFileURL(main).href);
