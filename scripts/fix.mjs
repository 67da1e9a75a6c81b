// `npm run fix`: mends what the formatter and the linter can mend by themselves.

import { install, runStep, tool } from "./setup.mjs";

install();
runStep(
  "lint --fix",
  tool("oxlint", "bin/oxlint"),
  ["--type-aware", "--fix", ...process.argv.slice(2)],
  process.stdout,
);
runStep(
  "format",
  tool("oxfmt", "bin/oxfmt"),
  ["--no-error-on-unmatched-pattern", ...process.argv.slice(2)],
  process.stdout,
);
