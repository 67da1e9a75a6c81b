import { readFileSync } from "node:fs";

let known: string | undefined;

/** The version of this software, as its package says. */
export function version(): string {
  const file = new URL("../package.json", import.meta.url);
  return (known ??= (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version);
}
