/**
 * How a service plugs in: one declaration that says everything about it once. Nodes take its shards and placement from it, the gateway its HTTP
 * and gRPC, the CLI its verbs, the console its pages. Adding a service to the product is adding its plug-in to apps/cli/src/services.ts.
 */
import { nameProblem } from "@keelson/kernel";
import type { z } from "zod";
import { KeelsonError } from "../errors.ts";
import type { ConsolePage } from "./console.ts";
import type { GrpcService } from "./grpc.ts";
import type { MetricDeclarations } from "./metrics.ts";
import type { NodeContext, NodeService } from "./node-context.ts";
import type { Routes } from "./route.ts";
import { routesProblem } from "./route-problem.ts";
import type { Verbs } from "./verb.ts";

export interface Plugin<Config extends z.ZodType = z.ZodType, Api extends Routes = Routes> {
  /** The service's name: in keys, paths (`/v1/<name>`), metrics' labels and `keelson <name> …`. */
  readonly name: string;
  /** One sentence without its full stop. */
  readonly about: string;
  /** The service's section of a config file, `[<name>]`. Every key should have a default. */
  readonly config: Config;
  /** What a node must have before it can run this. A node without it refuses to start, and says so. */
  readonly needs?: readonly ("objects" | "data")[];
  /** Called once per node. What it returns is what `defineService` takes, with what the node needs besides. */
  service(context: NodeContext<z.output<Config>>): NodeService | Promise<NodeService>;
  readonly http?: Api;
  readonly grpc?: readonly GrpcService[];
  readonly verbs?: Verbs;
  readonly metrics?: MetricDeclarations;
  /** Prometheus alert rules that are shipped with it. */
  readonly alerts?: readonly AlertRule[];
  readonly console?: readonly ConsolePage[];
  /** The codes with which its shards fail, and the HTTP status of each. Codes that are not listed become 500, their text withheld. */
  readonly errors?: Readonly<Record<string, { readonly status: number; readonly about: string }>>;
}

export interface AlertRule {
  readonly name: string;
  readonly expr: string;
  /** How long it must hold before it fires: `5m`. */
  readonly for: string;
  readonly severity: "page" | "ticket";
  readonly summary: string;
}

/** A plug-in whose types are forgotten, as a list of them holds it. */
export type AnyPlugin = Omit<Plugin, "service"> & {
  // oxlint-disable-next-line typescript/no-explicit-any -- each plug-in was checked against its own configuration where it was written.
  service(context: NodeContext<any>): NodeService | Promise<NodeService>;
};

/** Checks a declaration and returns it. Throws KeelsonError BAD_SERVICE. */
export function definePlugin<Config extends z.ZodType, Api extends Routes>(
  plugin: Plugin<Config, Api>,
): Plugin<Config, Api> {
  const problem = pluginProblem(plugin);
  if (problem !== undefined) throw new KeelsonError("BAD_SERVICE", problem);
  return plugin;
}

function pluginProblem(plugin: AnyPlugin): string | undefined {
  const { name, http = {}, console: pages = [], errors = {} } = plugin;
  const bad = nameProblem("plug-in name", name) ?? routesProblem(name, http);
  if (bad !== undefined) return bad;
  for (const { id, reads, actions = [] } of pages)
    for (const named of [...reads, ...actions.map(({ route }) => route)])
      if (!(named in http)) return `plug-in ${name}: page ${id} names the route ${named}, which there is not`;
  for (const [code, { status }] of Object.entries(errors))
    if (!(status >= 400 && status <= 599))
      return `plug-in ${name}: error ${code} has the status ${status}, not 400 to 599`;
  return undefined;
}
