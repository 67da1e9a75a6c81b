/** The services' own sections of a config file, brought together with what flags say for the examples. Unknown sections and keys are errors. */
import type { AnyPlugin } from "@keelson/runtime";
import { z } from "zod";
import { UsageError } from "../failure.ts";
import { SERVICES } from "../services.ts";
import type { Section } from "./load.ts";
import { SETTINGS } from "./settings.ts";
import { suggestion } from "./suggestion.ts";

export function pluginConfig(
  plugins: readonly AnyPlugin[],
  sections: Readonly<Record<string, Section>>,
  defaults: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Record<string, unknown> {
  // A file may have sections of services that this process does not run: it serves others too.
  const known = new Set([...plugins, ...SERVICES].map(({ name }) => name));
  for (const [name, { where }] of Object.entries(sections))
    if (!known.has(name))
      throw new UsageError(
        `${where}: there is no service ${name}${suggestion(name, [...known, ...Object.keys(SETTINGS)])}`,
      );
  return Object.fromEntries(
    plugins.map((plugin) => {
      const section = sections[plugin.name];
      if (section) checkKeys(plugin, section);
      return [plugin.name, { ...defaults[plugin.name], ...section?.values }];
    }),
  );
}

/** Schemas drop what they do not know; a person who wrote it wants to be told. */
function checkKeys({ name, config }: AnyPlugin, { where, values }: Section): void {
  if (!(config instanceof z.ZodObject)) return;
  const known = Object.keys(config.shape);
  for (const key of Object.keys(values))
    if (!known.includes(key))
      throw new UsageError(
        `${where}: unknown key ${key}${suggestion(key, known)}: ${name} knows ${known.join(", ") || "none"}`,
      );
}
