/** The plug-ins that `--service` names: the product's by name, the example echo, and a user's own by the path of its module. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { echoService } from "@keelson/examples";
import {
  definePlugin,
  defineService,
  type AnyPlugin,
  type Plugin,
  type ServiceDefinition,
} from "@keelson/runtime";
import { z } from "zod";
import { suggestion } from "../config/suggestion.ts";
import { RunError, UsageError } from "../failure.ts";
import { SERVICES, type ServiceEntry } from "../services.ts";

const echoPlugin = definePlugin({
  name: "echo",
  about: "says which shard answered",
  config: z.object({ shards: z.int().min(1).max(100_000).default(12) }),
  service: ({ config }) => echoService(config),
});

const KNOWN: readonly ServiceEntry[] = [
  ...SERVICES,
  { name: "echo", about: echoPlugin.about, load: () => Promise.resolve(echoPlugin) },
];

/** Stands for every service of the product. */
const ALL = "all";

export async function loadPlugins(names: readonly string[]): Promise<AnyPlugin[]> {
  const found: AnyPlugin[] = [];
  for (const name of names.flatMap((each) =>
    each === ALL ? SERVICES.map((service) => service.name) : each,
  )) {
    const known = KNOWN.find((service) => service.name === name);
    found.push(known ? await known.load() : await loadModule(name));
  }
  return found;
}

/** A service without anything around it, as a plug-in. */
export function servicePlugin(definition: ServiceDefinition): AnyPlugin {
  return {
    name: definition.name,
    about: `the service ${definition.name}`,
    config: z.object({}),
    service: () => definition,
  };
}

async function loadModule(name: string): Promise<AnyPlugin> {
  const known = KNOWN.map((service) => service.name);
  if (!/^[./]|\.[cm]?[jt]s$/.test(name))
    throw new UsageError(
      `unknown service ${name}${suggestion(name, known)}: write ${ALL}, ${known.join(", ")}, or the path of a module such as ./my-service.js`,
    );
  const path = resolve(name);
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as typeof module;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" && String(error).includes(path))
      throw new UsageError(`there is no module ${path}: give --service the path of one`, { cause: error });
    throw new RunError(`service module ${name} cannot be loaded: ${String(error)}`, { cause: error });
  }
  if (isPlugin(module.default)) return definePlugin(module.default);
  if (!isDefinition(module.default))
    throw new UsageError(
      `service module ${name} has no service as its default export: write export default defineService({ … }), or definePlugin({ … })`,
    );
  return servicePlugin(defineService(module.default));
}

function isPlugin(value: unknown): value is Plugin {
  if (typeof value !== "object" || value === null) return false;
  const { name, service, config } = value as Partial<Record<keyof Plugin, unknown>>;
  return typeof name === "string" && typeof service === "function" && typeof config === "object";
}

/** Enough of one for defineService to say what else is wrong with it. */
function isDefinition(value: unknown): value is ServiceDefinition {
  if (typeof value !== "object" || value === null) return false;
  const { name, parameters, placement } = value as Partial<Record<keyof ServiceDefinition, unknown>>;
  return typeof name === "string" && typeof parameters === "object" && typeof placement === "object";
}
