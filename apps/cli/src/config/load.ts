/**
 * Puts a node's settings together: a config file, then the environment, then the command line, of which the later wins. What nobody knows is an
 * error that names what was probably meant; what is wrong is said with the place it came from.
 */
import { readFileSync } from "node:fs";
import { parse, TomlError } from "smol-toml";
import { UsageError } from "../failure.ts";
import { isWildcard, parseListen } from "./listen.ts";
import { suggestion } from "./suggestion.ts";
import { SETTINGS, SETTING_NAMES, variableOf, type NodeConfig, type SettingName } from "./settings.ts";

export interface ConfigSources {
  /** Path of a TOML file. */
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** By the name of the setting. */
  readonly flags: Readonly<Record<string, unknown>>;
}

interface Given {
  readonly value: unknown;
  /** Where it stands, as the reader would look for it. */
  readonly where: string;
}

/** What Kubernetes puts into the environment of every pod when a Service is called keelson, or keelson-something. */
const FROM_KUBERNETES = /^KEELSON_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\w+)?)$/;

export function loadNodeConfig(sources: ConfigSources): NodeConfig {
  const given = new Map<SettingName, Given>();
  if (sources.file !== undefined) readFile(sources.file, given);
  readEnvironment(sources.environment, given);
  for (const name of SETTING_NAMES) {
    const value = sources.flags[name];
    if (value !== undefined) given.set(name, { value, where: `--${name}` });
  }
  const config = Object.fromEntries(SETTING_NAMES.map((name) => [name, check(name, given.get(name))]));
  return agreeing(config as NodeConfig);
}

function readFile(path: string, given: Map<SettingName, Given>): void {
  for (const [key, value] of Object.entries(parseFile(path))) {
    if (!isSetting(key))
      throw new UsageError(
        `${path}: unknown key ${key}${suggestion(key, SETTING_NAMES)}: it knows ${SETTING_NAMES.join(", ")}`,
      );
    given.set(key, { value, where: `${path}: ${key}` });
  }
}

function parseFile(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : message;
    throw new UsageError(`config file ${path} cannot be read: ${why}`, { cause: error });
  }
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const why = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "") ?? "";
    throw new UsageError(`${path}:${error.line}:${error.column}: not TOML: ${why}`, { cause: error });
  }
}

function readEnvironment(environment: ConfigSources["environment"], given: Map<SettingName, Given>): void {
  const variables = new Map(SETTING_NAMES.map((name) => [variableOf(name), name]));
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith("KEELSON_") || value === undefined || FROM_KUBERNETES.test(variable)) continue;
    const name = variables.get(variable);
    if (name === undefined)
      throw new UsageError(
        `unknown variable ${variable} in the environment${suggestion(variable, [...variables.keys()])}: unset it, or see keelson node --help`,
      );
    given.set(name, { value, where: variable });
  }
}

function check(name: SettingName, given: Given | undefined): unknown {
  const result = SETTINGS[name].schema.safeParse(given?.value);
  if (result.success) return result.data;
  if (given === undefined)
    throw new UsageError(
      `no ${name} is given: use --${name} ${SETTINGS[name].value}, ${variableOf(name)} or ${name} in a config file`,
    );
  const value = JSON.stringify(given.value) ?? String(given.value);
  const problem = result.error.issues[0]?.message ?? "is wrong";
  // A problem that is a whole sentence names the value itself.
  throw new UsageError(
    problem.startsWith("must ") ? `${given.where} ${problem}, not ${value}` : `${given.where}: ${problem}`,
  );
}

/** What must hold between settings. */
function agreeing(config: NodeConfig): NodeConfig {
  const listen = parseListen(config.listen);
  if (config.address === undefined && isWildcard(listen))
    throw new UsageError(
      `--listen ${config.listen} is every address of this machine: say with --address which one others reach it by`,
    );
  if (config.address !== undefined && parseListen(config.address).port === 0)
    throw new UsageError("--address needs the port that others reach it by, not 0");
  if (config.service.includes("counter") && config.shared === undefined)
    throw new UsageError("the service counter needs --shared <folder>, the same for all its nodes");
  return config;
}

function isSetting(key: string): key is SettingName {
  return Object.hasOwn(SETTINGS, key);
}
