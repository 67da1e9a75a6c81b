/** What is wrong with a plug-in's routes, as a sentence; undefined when nothing is. */
import { z } from "zod";
import type { AnyRoute, Routes } from "./route.ts";

const SEGMENT = /^(?:[A-Za-z0-9._~-]+|\{[a-z][A-Za-z0-9]*\})$/;

export function routesProblem(plugin: string, routes: Routes): string | undefined {
  const seen = new Map<string, string>();
  for (const [name, route] of Object.entries(routes)) {
    const problem = routeProblem(route);
    if (problem !== undefined) return `plug-in ${plugin}: route ${name}: ${problem}`;
    for (const path of pathsOf(plugin, route)) {
      const shape = `${route.verb} ${path.replace(/\{[^}]*\}/g, "{}")}`;
      const other = seen.get(shape);
      if (other !== undefined) return `plug-in ${plugin}: routes ${other} and ${name} are both ${shape}`;
      seen.set(shape, name);
    }
  }
  return undefined;
}

/** Where the gateway serves a route, first its own path and then those that others have laid down. */
export function pathsOf(plugin: string, { path, alsoAt = [] }: Pick<AnyRoute, "path" | "alsoAt">): string[] {
  return [`/v1/${plugin}${path === "/" ? "" : path}`, ...alsoAt];
}

/** The names in braces, in order; a trailing star is not part of the name. */
function pathParameters(path: string): string[] {
  return Array.from(path.matchAll(/\{([^}*]*)\*?\}/g), (match) => match[1] ?? "");
}

function routeProblem(route: AnyRoute): string | undefined {
  for (const path of [route.path, ...(route.alsoAt ?? [])]) {
    const segments = path.split("/").slice(1);
    const last = segments.at(-1) ?? "";
    const plain = /^\{[a-z][A-Za-z0-9]*\*\}$/.test(last) ? segments.slice(0, -1) : segments;
    if (!path.startsWith("/") || (path !== "/" && !plain.every((segment) => SEGMENT.test(segment))))
      return `the path ${path} is not like /things/{id}`;
  }
  const declared = route.params instanceof z.ZodObject ? Object.keys(route.params.shape) : [];
  for (const path of [route.path, ...(route.alsoAt ?? [])])
    if (declared.toSorted().join() !== pathParameters(path).toSorted().join())
      return `the path ${path} and the params schema name different parameters`;
  if (route.body !== undefined && route.verb === "GET") return "a GET has no body";
  if (route.mode === "write" && route.verb === "GET") return "a GET does not write";
  if (route.mode === "write" && route.scope === "read") return "a write needs the scope write or admin";
  return undefined;
}
