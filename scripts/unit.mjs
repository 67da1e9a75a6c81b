// `npm run unit -- <vitest arguments>`: tests straight from source, with no build.

import { install, runStep, tool } from "./setup.mjs";

install();
runStep("tests", tool("vitest", "vitest.mjs"), ["run", ...process.argv.slice(2)], process.stdout);
