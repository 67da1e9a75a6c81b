/**
 * The address of a Postgres: `postgres://user[:password]@host[:port][,host[:port]…][/database][?schema=…&listen=off&tls…]`. TLS is asked for by `tls`, by `ca`, `cert`, `key` or
 * `servername`, or in the words that other tools use, `sslmode=require` (any certificate) and `sslmode=verify-full`. Without a password PGPASSWORD counts.
 */
import type { Clock, Random, Store } from "@keelson/kernel";
import type { HostPort } from "@keelson/wire";
import {
  TLS_PARAMETERS,
  parseServerUrl,
  readTls,
  tlsIn,
  wrong,
  type ServerUrlRules,
  type TlsParameters,
} from "../server-url.ts";
import { SCHEMA_NAME } from "./options.ts";

export interface PostgresUrl {
  readonly kind: "postgres";
  readonly hosts: readonly HostPort[];
  readonly user: string;
  readonly password?: string;
  readonly database: string;
  readonly schema?: string;
  readonly listen?: boolean;
  /** Names of files, except the server's name. `verify` is false when any certificate will do. */
  readonly tls?: TlsParameters & { readonly verify?: boolean };
}

export const POSTGRES_FORM = "postgres://<user>@<host>:<port>/<database>[?schema=<name>]";

const SSL_MODES = ["disable", "require", "verify-full"];

/** Takes what follows `postgres:` or `postgresql:`. */
export function parsePostgresUrl(rest: string): PostgresUrl {
  const parameters = ["schema", "listen", "tls", "sslmode", ...TLS_PARAMETERS];
  const rules: ServerUrlRules = { scheme: "postgres", form: POSTGRES_FORM, port: 5432, parameters };
  const { hosts, user, password, path, parameters: given } = parseServerUrl(rest, rules);
  if (user === undefined) throw wrong(rules, "it names no user");
  const schema = given.get("schema");
  if (schema !== undefined && !SCHEMA_NAME.test(schema))
    throw wrong(rules, "a schema may have small letters, digits and _, 41 at most");
  const listen = given.get("listen") ?? "on";
  if (listen !== "on" && listen !== "off") throw wrong(rules, "listen is on or off");
  const tls = tlsWanted(given, rules);
  return {
    kind: "postgres",
    hosts,
    user,
    ...(password === undefined ? {} : { password }),
    database: path === "" ? user : path,
    ...(schema === undefined ? {} : { schema }),
    ...(listen === "off" ? { listen: false } : {}),
    ...(tls === undefined ? {} : { tls }),
  };
}

function tlsWanted(given: ReadonlyMap<string, string>, rules: ServerUrlRules): PostgresUrl["tls"] {
  const mode = given.get("sslmode") ?? "disable";
  if (!SSL_MODES.includes(mode)) throw wrong(rules, `sslmode is one of ${SSL_MODES.join(", ")}`);
  const on = given.get("tls") ?? "off";
  if (!["", "on", "off"].includes(on)) throw wrong(rules, "tls is on or off");
  const files = tlsIn(given, rules);
  if (mode === "require" && files.ca === undefined) return { ...files, verify: false };
  const wanted = mode !== "disable" || on !== "off" || Object.keys(files).length > 0;
  return wanted ? files : undefined;
}

/** Reads the files that the address names, and loads the client library. Throws StoreUrlError; it does not connect. */
export async function openPostgres(
  { tls, ...url }: PostgresUrl,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<Store> {
  const { verify, ...files } = tls ?? {};
  const read = tls === undefined ? undefined : { ...readTls(files, "postgres"), verify };
  const { PostgresStore } = await import("./postgres-store.ts");
  return new PostgresStore({ clock, random, ...url, tls: read });
}
