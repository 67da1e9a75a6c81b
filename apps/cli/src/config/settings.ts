/**
 * What can be said about a node, a gateway, a store and `up`, once: each setting's name is its key in a config file, `--name` on the command line and
 * KEELSON_NAME in the environment. docs/reference/config.md lists the same; a test keeps the two equal.
 */
import { nameProblem } from "@keelson/kernel";
import { parseObjectsUrl } from "@keelson/objects";
import { parseStoreUrl } from "@keelson/stores/url";
import { parseAddress } from "@keelson/wire";
import { z } from "zod";
import { GATEWAY_LISTEN } from "../admin/door.ts";
import { parseListen } from "./listen.ts";
import { duration, file, flag, folder, list, number, text, thrown, type Setting } from "./setting.ts";

const LOG_LEVELS = ["silent", "error", "warn", "info", "debug"] as const;

const services = (about: string, names: readonly string[]) => ({
  value: "<name>",
  about,
  schema: list(
    "must name a service: all, one by its name, or a module such as ./my-service.js; several with commas",
  ).default([...names]),
});

const listen = (about: string, where: string) => ({
  value: "<host:port>",
  about: `${about}; port 0 takes a free one (${where})`,
  schema: text((value) => thrown(() => parseListen(value))).default(where),
});

const fleet = {
  value: "<name>",
  about: "which fleet it belongs to (main)",
  schema: text((name) => nameProblem("fleet name", name)).default("main"),
};

const store = {
  value: "<url>",
  about: "the fleet's store, e.g. embedded://127.0.0.1:7400",
  schema: text((url) => thrown(() => parseStoreUrl(url))),
};

const objects = {
  value: "<url>",
  about: "where the fleet keeps large durable bytes: file:/folder, or s3://bucket/prefix",
  schema: text((url) => thrown(() => parseObjectsUrl(url, process.env))).optional(),
};

const ttl = {
  value: "<time>",
  about: "how long a node's sessions outlive it; the same on all nodes (10s)",
  schema: duration.refine((ms) => ms >= 500 && ms <= 600_000, "must be from 500ms to 10m").default(10_000),
};

const shards = {
  value: "<number>",
  about: "how many shards echo and counter have; the same on all nodes (12)",
  schema: number(1, 100_000, true).default(12),
};

const log = {
  value: "<level>",
  about: `what is logged as JSON on stderr: ${LOG_LEVELS.join(", ")} (warn)`,
  schema: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("warn"),
};

const grpcListen = {
  value: "<host:port>",
  about: "where it takes gRPC, for services that have it (nowhere)",
  schema: text((value) => thrown(() => parseListen(value))).optional(),
};

const tokens = {
  value: "<file>",
  about:
    'a file of bearer tokens, hashed, or "store" for those in the store; without it everybody may do everything',
  schema: file.optional(),
};

const adminListen = {
  value: "<host:port>",
  about:
    "where operators are served: the fleet's API, metrics and the console, then nowhere else (with all else)",
  schema: text((value) => thrown(() => parseListen(value))).optional(),
};

const audit = (about: string) => ({ value: "<file>", about, schema: file.optional() });

const rate = (of: string) => ({
  value: "<number>",
  about: `requests a second ${of}; twice as many may come at once (no limit)`,
  schema: number(0, 1_000_000, false).optional(),
});

const tokenStale = {
  value: "<time>",
  about:
    "how long it takes tokens while it hears nothing of the fleet, and so not of revoked ones (for ever)",
  schema: duration.optional(),
};

const otlp = {
  value: "<url>",
  about: "where traces are sent, e.g. http://127.0.0.1:4318/v1/traces",
  schema: text((url) => (URL.canParse(url) ? undefined : "must be a URL")).optional(),
};

/** Mutual TLS between the processes of a fleet. */
const pem = (about: string) => ({ value: "<file>", about, schema: file.optional() });
const tlsName = {
  value: "<name>",
  about:
    "the name that every certificate of the fleet must bear, instead of the host that a node is reached by",
  schema: text((name) =>
    /^[A-Za-z0-9.*_-]{1,253}$/.test(name) ? undefined : "must be a host name",
  ).optional(),
};
const tls = {
  "tls-ca": pem(
    "the fleet's authority, as PEM; with it, everything between nodes is encrypted and both sides show a certificate",
  ),
  "tls-cert": pem("its certificate for other nodes, as PEM; read again when it changes"),
  "tls-key": pem("the private key of that certificate, as PEM"),
  "tls-name": tlsName,
} as const;

const NODE = {
  fleet,
  id: {
    value: "<name>",
    about: "its id, of which the fleet has one",
    schema: text((name) => nameProblem("node id", name)),
  },
  store,
  objects,
  listen: listen("where it takes requests", "127.0.0.1:0"),
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
  ttl,
  data: {
    value: "<folder>",
    about: "its own folder; with it, a restart after a crash is back at once",
    schema: folder.optional(),
  },
  service: services(
    "what it serves: all, the name of one, or a module of yours; several with commas (echo)",
    ["echo"],
  ),
  shards,
  shared: {
    value: "<folder>",
    about: "a folder that all nodes share, where counter keeps its counts",
    schema: folder.optional(),
  },
  ...tls,
  "status-listen": {
    value: "<host:port>",
    about: "where probes and Prometheus find it: /healthz, /readyz, /metrics, in plain HTTP (nowhere)",
    schema: text((value) => thrown(() => parseListen(value))).optional(),
  },
  otlp,
  log,
} as const satisfies Record<string, Setting>;

const GATEWAY = {
  fleet,
  store,
  listen: listen("where it takes HTTP", GATEWAY_LISTEN),
  "grpc-listen": grpcListen,
  "admin-listen": adminListen,
  node: {
    value: "<host:port>",
    about:
      "nodes whose copy of the store it follows, so that it asks the store for nothing; several with commas",
    schema: list("must be addresses of nodes, such as 10.0.0.5:7401; several with commas")
      .superRefine((addresses, context) => {
        for (const address of addresses) {
          const message = thrown(() => parseAddress(address));
          if (message !== undefined) context.addIssue({ code: "custom", message });
        }
      })
      .optional(),
  },
  service: services(
    "whose APIs it serves: all, the name of one, or a module of yours; several with commas (echo)",
    ["echo"],
  ),
  tokens,
  "tls-cert": { value: "<file>", about: "its certificate, as PEM", schema: file.optional() },
  "tls-key": { value: "<file>", about: "its private key, as PEM", schema: file.optional() },
  "node-tls-ca": pem("the fleet's authority, as PEM, when nodes have TLS"),
  "node-tls-cert": pem("the certificate that it shows to nodes, as PEM; read again when it changes"),
  "node-tls-key": pem("the private key of that certificate, as PEM"),
  "node-tls-name": tlsName,
  audit: audit("where who did what is written, as lines of JSON; rotated (in memory only)"),
  "token-rate": rate("with one token"),
  "address-rate": rate("from one address without a token"),
  "token-stale": tokenStale,
  insecure: {
    value: "",
    about: "listen off loopback without tokens or TLS, for whoever comes",
    schema: flag.default(false),
  },
  otlp,
  log,
} as const satisfies Record<string, Setting>;

const STORE = {
  data: { value: "<folder>", about: "where it is kept; made if need be", schema: folder },
  listen: listen("where it takes calls", "127.0.0.1:7400"),
  ...tls,
} as const satisfies Record<string, Setting>;

const UP = {
  data: {
    value: "<folder>",
    about: "where everything is kept; made if need be (keelson-data)",
    schema: folder.default("keelson-data"),
  },
  listen: listen("where the gateway takes HTTP", GATEWAY_LISTEN),
  "grpc-listen": grpcListen,
  "admin-listen": adminListen,
  fleet,
  nodes: {
    value: "<number>",
    about: "how many nodes, called a, b, c … (3)",
    schema: number(1, 26, true).default(3),
  },
  ttl,
  service: services("what it serves: all, the name of one, or a module of yours; several with commas (all)", [
    "all",
  ]),
  shards,
  tokens,
  audit: audit("where who did what is written, as lines of JSON; rotated (audit.jsonl in the data folder)"),
  "token-rate": GATEWAY["token-rate"],
  "address-rate": GATEWAY["address-rate"],
  insecure: GATEWAY.insecure,
  demo: {
    value: "",
    about:
      "put a demo there: code to search, and jobs; --no-demo: none (by itself in a new folder that serves all)",
    schema: flag.optional(),
    isDeniable: true,
  },
  otlp,
  log,
} as const satisfies Record<string, Setting>;

/** By command. */
export const SETTINGS = { node: NODE, gateway: GATEWAY, store: STORE, up: UP } as const;

export type ConfiguredCommand = keyof typeof SETTINGS;

/** A command's settings, all checked. */
export type ConfigOf<Name extends ConfiguredCommand> = {
  readonly [Key in keyof (typeof SETTINGS)[Name]]: (typeof SETTINGS)[Name][Key] extends {
    readonly schema: infer Schema extends z.ZodType;
  }
    ? z.output<Schema>
    : never;
};

export function settingsOf(command: ConfiguredCommand): Readonly<Record<string, Setting>> {
  return SETTINGS[command];
}

export function variableOf(name: string): string {
  return `KEELSON_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** Variables that are no setting: how verbs reach a fleet. */
export const OTHER_VARIABLES = ["KEELSON_URL", "KEELSON_TOKEN"] as const;
