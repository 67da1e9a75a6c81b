import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "smol-toml";
import { ScenarioError } from "./fields.ts";
import { readScenario, type Scenario } from "./scenario.ts";

/** The scenario files that come with the simulator; from `src` and from `dist` alike they are two folders up. */
const folder = fileURLToPath(new URL("../../scenarios/", import.meta.url));

export function scenarioNames(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".toml"))
    .map((file) => file.slice(0, -".toml".length))
    .sort();
}

/** Throws ScenarioError when the file is not what it should be. */
export function loadScenario(name: string): Scenario {
  const text = readFileSync(`${folder}${name}.toml`, "utf8");
  let parsed: unknown;
  try {
    parsed = parse(text);
  } catch (cause) {
    throw new ScenarioError(`${name}.toml: ${(cause as Error).message}`, { cause });
  }
  return readScenario(name, parsed);
}
