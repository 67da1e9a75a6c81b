/**
 * What can be said about a node, once: each setting's name is its key in a config file, `--name` on the command line and KEELSON_NAME in the
 * environment. docs/reference/config.md lists the same; a test keeps the two equal.
 */
import { nameProblem } from "@keelson/kernel";
import { parseStoreUrl } from "@keelson/stores/url";
import { z } from "zod";
import { parseDurationMs } from "./duration.ts";
import { parseListen } from "./listen.ts";

export interface Setting {
  /** How the value is shown in help: `<name>`. */
  readonly value: string;
  readonly about: string;
  readonly schema: z.ZodType;
}

/** Text that `problem` finds nothing wrong with. */
function text(problem: (value: string) => string | undefined): z.ZodType<string, string> {
  return z.string("must be text").superRefine((value, context) => {
    const message = problem(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
}

/** A number that may come as text, from the environment or the command line. */
function number(least: number, most: number, whole: boolean): z.ZodType<number> {
  const message = `must be a ${whole ? "whole " : ""}number from ${least} to ${most}`;
  return z
    .union([z.number(), z.string().regex(/\S/).transform(Number)], message)
    .refine((value) => value >= least && value <= most && (!whole || Number.isInteger(value)), message);
}

const duration = z
  .string("must be a length of time with its unit: 500ms, 10s, 2m")
  .transform((value, context) => {
    const ms = parseDurationMs(value);
    if (ms !== undefined) return ms;
    context.addIssue({ code: "custom", message: "must be a length of time with its unit: 500ms, 10s, 2m" });
    return z.NEVER;
  });

const SERVICES =
  "must name a service: echo, counter, or a module such as ./my-service.js; several with commas";
const services = z
  .union([z.string(), z.array(z.string())], SERVICES)
  .transform((value) => (typeof value === "string" ? value.split(",") : value).map((name) => name.trim()))
  .refine((names) => names.length > 0 && names.every((name) => name !== ""), SERVICES);

const folder = text((value) => (value === "" ? "must name a folder" : undefined));

function thrown(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export const SETTINGS = {
  fleet: {
    value: "<name>",
    about: "which fleet it joins (main)",
    schema: text((name) => nameProblem("fleet name", name)).default("main"),
  },
  id: {
    value: "<name>",
    about: "its id, of which the fleet has one",
    schema: text((name) => nameProblem("node id", name)),
  },
  store: {
    value: "<url>",
    about: "the fleet's store, e.g. embedded://127.0.0.1:7400",
    schema: text((url) => thrown(() => parseStoreUrl(url))),
  },
  listen: {
    value: "<host:port>",
    about: "where it takes requests; port 0 takes a free one (127.0.0.1:0)",
    schema: text((where) => thrown(() => parseListen(where))).default("127.0.0.1:0"),
  },
  address: {
    value: "<host:port>",
    about: "where others reach it, when that is not where it listens",
    schema: text((where) => thrown(() => parseListen(where))).optional(),
  },
  zone: {
    value: "<name>",
    about: "its zone; replicas of a shard are spread over zones",
    schema: text((name) => nameProblem("zone", name)).optional(),
  },
  capacity: {
    value: "<number>",
    about: "its share of the shards, relative to other nodes' (1)",
    schema: number(0, 1_000, false).default(1),
  },
  ttl: {
    value: "<time>",
    about: "how long its sessions outlive it; the same on all nodes (10s)",
    schema: duration.refine((ms) => ms >= 500 && ms <= 600_000, "must be from 500ms to 10m").default(10_000),
  },
  data: {
    value: "<folder>",
    about: "its own folder; with it, a restart after a crash is back at once",
    schema: folder.optional(),
  },
  service: {
    value: "<name>",
    about: "what it serves: echo, counter, or a module of yours; several with commas (echo)",
    schema: services.default(["echo"]),
  },
  shards: {
    value: "<number>",
    about: "how many shards echo and counter have; the same on all nodes (12)",
    schema: number(1, 100_000, true).default(12),
  },
  shared: {
    value: "<folder>",
    about: "a folder that all nodes share, where counter keeps its counts",
    schema: folder.optional(),
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** A node's settings, all checked. */
export type NodeConfig = { readonly [Name in SettingName]: z.output<(typeof SETTINGS)[Name]["schema"]> };

export function variableOf(name: SettingName): string {
  return `KEELSON_${name.toUpperCase()}`;
}
