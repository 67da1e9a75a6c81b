// `npm test`: everything that must be true before a commit, cheapest first, stopping at the first failure.
// Arguments go to vitest.

import { join } from "node:path";
import { root, runStep, setup, tool } from "./setup.mjs";

setup();
runStep(
  "format (npm run fix mends it)",
  tool("oxfmt", "bin/oxfmt"),
  ["--check", "--no-error-on-unmatched-pattern"],
  process.stdout,
);
runStep("lint", tool("oxlint", "bin/oxlint"), ["--type-aware", "--deny-warnings"], process.stdout);
runStep("types, tests included", tool("typescript", "bin/tsc"), ["-p", "tsconfig.json"], process.stdout);
runStep("unused code and dependencies", tool("knip", "bin/knip.js"), [], process.stdout);
runStep("servers for tests", join(root, "packages/testkit/dist/servers/install.js"), []);
// Hundreds of tests run real servers and processes against real clocks. One that fails is run once more, so that a stall of a shared machine does not cost
// a landing; a broken promise fails twice, and the report says which were retried.
runStep(
  "tests",
  tool("vitest", "vitest.mjs"),
  ["run", "--retry=1", ...process.argv.slice(2)],
  process.stdout,
);
process.stderr.write("keelson: all checks passed\n");
