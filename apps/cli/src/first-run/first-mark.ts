/**
 * Remembers that a data folder is new until somebody was offered something in it. A start that fails half-way (its port is taken, say) has made the store
 * already, and the next one is still the first for the person.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const NAME = "first-run";

export function markFirstRun(data: string): void {
  writeFileSync(join(data, NAME), "Nothing was offered in this folder yet.\n");
}

export function isFirstRun(data: string): boolean {
  return existsSync(join(data, NAME));
}

export function endFirstRun(data: string): void {
  rmSync(join(data, NAME), { force: true });
}
