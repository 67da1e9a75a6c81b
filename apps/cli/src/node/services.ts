/** The services that `keelson node --service` knows: the examples by name, and a user's own by the path of its module. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { counterService, echoService } from "@keelson/examples";
import { defineService, type ServiceDefinition } from "@keelson/runtime";
import { suggestion } from "../config/suggestion.ts";
import { RunError, UsageError } from "../failure.ts";

export interface ServiceSettings {
  readonly shards: number;
  readonly shared: string | undefined;
}

const EXAMPLES: Readonly<Record<string, (settings: ServiceSettings) => ServiceDefinition>> = {
  echo: ({ shards }) => echoService({ shards }),
  // The settings were checked to have the folder when counter is asked for.
  counter: ({ shards, shared = "." }) => counterService({ folder: resolve(shared), shards }),
};

export async function loadServices(
  names: readonly string[],
  settings: ServiceSettings,
): Promise<ServiceDefinition[]> {
  const services: ServiceDefinition[] = [];
  for (const name of names) {
    const example = EXAMPLES[name];
    services.push(example === undefined ? await loadModule(name) : example(settings));
  }
  return services;
}

async function loadModule(name: string): Promise<ServiceDefinition> {
  if (!/^[./]|\.[cm]?[jt]s$/.test(name))
    throw new UsageError(
      `unknown service ${name}${suggestion(name, Object.keys(EXAMPLES))}: write ${Object.keys(EXAMPLES).join(", ")}, or the path of a module such as ./my-service.js`,
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
  if (!isDefinition(module.default))
    throw new UsageError(
      `service module ${name} has no service as its default export: write export default defineService({ … })`,
    );
  return defineService(module.default);
}

/** Enough of one for defineService to say what else is wrong with it. */
function isDefinition(value: unknown): value is ServiceDefinition {
  if (typeof value !== "object" || value === null) return false;
  const { name, parameters, placement } = value as Partial<Record<keyof ServiceDefinition, unknown>>;
  return typeof name === "string" && typeof parameters === "object" && typeof placement === "object";
}
