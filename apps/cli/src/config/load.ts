/**
 * Puts a command's settings together: a config file, then the environment, then the command line, of which the later wins. What nobody knows is an
 * error that names what was probably meant; what is wrong is said with the place it came from.
 *
 * A file has the command's settings at its top, or in a section with the command's name, which wins; so one file can serve a node and a gateway. A section
 * with a service's name is that service's own, and is checked by its schema when the service is opened.
 */
import { readFileSync } from "node:fs";
import { parse, TomlError } from "smol-toml";
import { UsageError } from "../failure.ts";
import { suggestion } from "./suggestion.ts";
import {
  OTHER_VARIABLES,
  SETTINGS,
  settingsOf,
  variableOf,
  type ConfigOf,
  type ConfiguredCommand,
} from "./settings.ts";

export interface ConfigSources {
  /** Path of a TOML file. */
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** By the name of the setting. */
  readonly flags: Readonly<Record<string, unknown>>;
}

export interface Loaded<Name extends ConfiguredCommand> {
  readonly config: ConfigOf<Name>;
  /** Sections of the file that are no command's: the services' own. */
  readonly sections: Readonly<Record<string, Section>>;
}

export interface Section {
  /** Where it stands, as the reader would look for it. */
  readonly where: string;
  readonly values: Readonly<Record<string, unknown>>;
}

interface Given {
  readonly value: unknown;
  readonly where: string;
}

type GivenSettings = Map<string, Given>;

const COMMANDS = Object.keys(SETTINGS) as readonly ConfiguredCommand[];

/** What Kubernetes puts into the environment of every pod when a Service is called keelson, or keelson-something. */
const FROM_KUBERNETES = /^KEELSON_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\w+)?)$/;

export function loadConfig<Name extends ConfiguredCommand>(
  command: Name,
  sources: ConfigSources,
): Loaded<Name> {
  const settings = settingsOf(command);
  const given: GivenSettings = new Map();
  const sections = sources.file === undefined ? {} : readFile(command, sources.file, given);
  readEnvironment(command, sources.environment, given);
  for (const name of Object.keys(settings)) {
    const value = sources.flags[camelCase(name)];
    if (value !== undefined) given.set(name, { value, where: `--${name}` });
  }
  const config = Object.fromEntries(
    Object.keys(settings).map((name) => [name, check(command, name, given.get(name))]),
  );
  return { config: config as ConfigOf<Name>, sections };
}

function readFile(command: ConfiguredCommand, path: string, given: GivenSettings): Record<string, Section> {
  const sections: Record<string, Section> = {};
  const known = Object.keys(settingsOf(command));
  const table = parseFile(path);
  for (const [key, value] of Object.entries(table)) {
    if (isTable(value)) {
      if (!isCommand(key)) sections[key] = { where: `${path}: [${key}]`, values: value };
      continue;
    }
    if (!known.includes(key))
      throw new UsageError(
        `${path}: unknown key ${key}${suggestion(key, known)}: ${command} knows ${known.join(", ")}`,
      );
    given.set(key, { value, where: `${path}: ${key}` });
  }
  // After the top of the file, because the command's own section wins; those of other commands are checked all the same.
  for (const name of COMMANDS) {
    const section = table[name];
    if (!isTable(section)) continue;
    const keys = Object.keys(settingsOf(name));
    for (const [key, value] of Object.entries(section)) {
      if (!keys.includes(key))
        throw new UsageError(
          `${path}: [${name}]: unknown key ${key}${suggestion(key, keys)}: ${name} knows ${keys.join(", ")}`,
        );
      if (name === command) given.set(key, { value, where: `${path}: [${name}] ${key}` });
    }
  }
  return sections;
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

/** A variable that another command knows is not ours to complain about: one environment may serve several. */
function readEnvironment(
  command: ConfiguredCommand,
  environment: ConfigSources["environment"],
  given: GivenSettings,
): void {
  const mine = new Map(Object.keys(settingsOf(command)).map((name) => [variableOf(name), name]));
  const known = new Set<string>([
    ...OTHER_VARIABLES,
    ...COMMANDS.flatMap((name) => Object.keys(settingsOf(name)).map(variableOf)),
  ]);
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith("KEELSON_") || value === undefined || FROM_KUBERNETES.test(variable)) continue;
    const name = mine.get(variable);
    if (name !== undefined) given.set(name, { value, where: variable });
    else if (!known.has(variable))
      throw new UsageError(
        `unknown variable ${variable} in the environment${suggestion(variable, [...known])}: unset it, or see keelson ${command} --help`,
      );
  }
}

function check(command: ConfiguredCommand, name: string, given: Given | undefined): unknown {
  const { schema, value: shown } = settingsOf(command)[name]!;
  const result = schema.safeParse(given?.value);
  if (result.success) return result.data;
  if (given === undefined)
    throw new UsageError(
      `no ${name} is given: use --${name} ${shown}, ${variableOf(name)} or ${name} in a config file`,
    );
  const value = JSON.stringify(given.value) ?? String(given.value);
  const problem = result.error.issues[0]?.message ?? "is wrong";
  // A problem that is a whole sentence names the value itself.
  throw new UsageError(
    problem.startsWith("must ") ? `${given.where} ${problem}, not ${value}` : `${given.where}: ${problem}`,
  );
}

function isCommand(key: string): key is ConfiguredCommand {
  return Object.hasOwn(SETTINGS, key);
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** As commander calls an option with dashes. */
function camelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
