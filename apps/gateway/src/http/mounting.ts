/**
 * What is served where. A gateway has one listener for everything; or two, of which the one for operators has everything and the one for the public has neither the fleet's
 * own APIs, nor metrics, nor the console: what is not mounted there cannot be reached by any mistake in a check.
 */
import { pathsOf, type AnyRoute, type Api } from "@keelson/runtime";
import type { Endpoint } from "./endpoint.ts";
import type { Front } from "./front.ts";

type Page = readonly [path: string, endpoint: Endpoint];

export interface Served {
  /** The services' APIs. */
  readonly plugins: readonly Api[];
  /** The fleet's own. */
  readonly apis: readonly Api[];
  /** Health, metrics and descriptions, which tell of the APIs that are given. */
  readonly own: (apis: readonly Api[]) => readonly Page[];
  /** The console. */
  readonly console: readonly Page[];
  readonly endpoint: (api: Api, name: string, route: AnyRoute) => Endpoint;
}

export function mountAll(everything: Front, forPublic: Front | undefined, served: Served): void {
  const { plugins, apis, own, console, endpoint } = served;
  for (const [path, page] of [...own([...plugins, ...apis]), ...console]) everything.mount("GET", path, page);
  for (const [path, page] of forPublic ? own(plugins) : [])
    if (!path.startsWith("/metrics")) forPublic?.mount("GET", path, page);
  for (const api of [...plugins, ...apis])
    for (const [name, route] of Object.entries(api.http ?? {})) {
      // One for both: its limits are the gateway's, not a listener's.
      const mounted = endpoint(api, name, route);
      for (const path of pathsOf(api.name, route)) {
        everything.mount(route.verb, path, mounted);
        if (!apis.includes(api)) forPublic?.mount(route.verb, path, mounted);
      }
    }
}
