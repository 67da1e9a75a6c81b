import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { figure, table } from "../auction/figure.ts";
import { sweep } from "../auction/sweep.ts";
import type { Scenario } from "../scenario/scenario.ts";

/** Where reports go; from `src` and from `dist` alike it is two folders up. Not committed. */
const folder = fileURLToPath(new URL("../../results/", import.meta.url));

/** `--report`: turns one dial after the other, prints a row for each, and writes text and figure. Returns the exit code. */
export async function reportCommand(scenario: Scenario, seed: number, hours: number): Promise<number> {
  const seeds = [seed];
  const title = `${scenario.name}: ${hours} h on seed ${seed}`;
  process.stdout.write(`${title}\n`);
  const rows = await sweep(scenario, seeds, hours, (row) =>
    process.stdout.write(table([row]).split("\n")[1] + "\n"),
  );
  const text = table(rows);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}${scenario.name}.txt`, `${title}\n\n${text}`);
  writeFileSync(`${folder}${scenario.name}.svg`, figure(rows, title));
  const violations = rows.reduce((sum, row) => sum + row.violations, 0);
  process.stdout.write(
    `\n${text}\nwritten: ${folder}${scenario.name}.txt and .svg\nviolations: ${violations}\n`,
  );
  return violations > 0 ? 3 : 0;
}
