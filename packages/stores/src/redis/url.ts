/** The address of a Redis: `redis://[user[:password]@]host[:port][/database][?namespace=…]`, and `rediss://` for TLS, with `ca`, `cert`, `key` and `servername` besides. */
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

export interface RedisUrl extends HostPort {
  readonly kind: "redis";
  readonly user?: string;
  readonly password?: string;
  readonly database?: number;
  readonly namespace?: string;
  /** Names of files, except the server's name. */
  readonly tls?: TlsParameters;
}

export const REDIS_FORM = "redis[s]://<host>:<port>[/<database>][?namespace=<name>]";

const NAMESPACE = /^[A-Za-z0-9._~-]{1,100}$/;

/** Takes what follows `redis:` or `rediss:`. */
export function parseRedisUrl(rest: string, scheme: "redis" | "rediss"): RedisUrl {
  const secure = scheme === "rediss";
  const parameters = ["namespace", ...(secure ? TLS_PARAMETERS : [])];
  const rules: ServerUrlRules = { scheme, form: REDIS_FORM, port: 6379, parameters };
  const { hosts, user, password, path, parameters: given } = parseServerUrl(rest, rules);
  const [host] = hosts;
  if (host === undefined || hosts.length > 1)
    throw wrong(rules, "it names several hosts, and Redis has one primary");
  if (user !== undefined && password === undefined)
    throw wrong(rules, "a user goes with a password: user:password@, or :password@ alone");
  if (!/^\d{0,5}$/.test(path)) throw wrong(rules, "after the host stands the number of a database");
  const namespace = given.get("namespace");
  if (namespace !== undefined && !NAMESPACE.test(namespace))
    throw wrong(rules, "a namespace may have letters, digits and . _ ~ -");
  return {
    kind: "redis",
    ...host,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(path === "" ? {} : { database: Number(path) }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(secure ? { tls: tlsIn(given, rules) } : {}),
  };
}

/** Reads the files that the address names, and loads the client library. Throws StoreUrlError; it does not connect. */
export async function openRedis(
  { tls, ...url }: RedisUrl,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<Store> {
  const read = tls === undefined ? undefined : readTls(tls, "rediss");
  const { RedisStore } = await import("./redis-store.ts");
  return new RedisStore({ clock, random, ...url, tls: read });
}
