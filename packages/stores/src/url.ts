/**
 * Store addresses as people write them: `memory:`, `embedded:./folder` for a folder of this process's own, `embedded://host:port` for one that another
 * process serves, `etcd://`, `redis://` and `postgres://` for servers. Parsing is apart from opening, so that a command can check what it was given before it starts anything.
 */
import { nearest, type Clock, type Random, type Store } from "@keelson/kernel";
import { parseAddress, type WireClientOptions } from "@keelson/wire";
import { EmbeddedStore } from "./embedded/embedded-store.ts";
import { StoreUrlError } from "./errors.ts";
import { ETCD_FORM, openEtcd, parseEtcdUrl, type EtcdUrl } from "./etcd/url.ts";
import { MemoryStore } from "./memory/memory-store.ts";
import { POSTGRES_FORM, openPostgres, parsePostgresUrl, type PostgresUrl } from "./postgres/url.ts";
import { REDIS_FORM, openRedis, parseRedisUrl, type RedisUrl } from "./redis/url.ts";
import { RemoteStore } from "./remote/remote-store.ts";

export { StoreUrlError } from "./errors.ts";

export type StoreUrl =
  | { readonly kind: "memory" }
  | { readonly kind: "embedded"; readonly folder: string }
  | { readonly kind: "remote"; readonly address: string }
  | EtcdUrl
  | RedisUrl
  | PostgresUrl;

/** `connect` is how a store of the fleet's own is reached: where TLS goes. */
export interface OpenStoreOptions extends Pick<WireClientOptions, "connect"> {
  readonly clock: Clock;
  readonly random: Random;
  /** Told to a remote store, for its logs. */
  readonly name?: string;
  /** Told to a remote store that asks for one. */
  readonly token?: string;
}

/** Each known scheme with how it is written. */
const FORMS = {
  memory: ["memory:"],
  embedded: ["embedded:<folder>", "embedded://<host>:<port>"],
  etcd: [ETCD_FORM],
  redis: [REDIS_FORM],
  rediss: [],
  postgres: [POSTGRES_FORM],
  postgresql: [],
} as const;

/** Opens what the address names. Throws StoreUrlError, FolderError or StoreError; remote stores connect when first used. */
export async function openStore(url: string, options: OpenStoreOptions): Promise<Store> {
  const parsed = parseStoreUrl(url);
  switch (parsed.kind) {
    case "memory":
      return new MemoryStore(options);
    case "embedded":
      return EmbeddedStore.open({ ...options, folder: parsed.folder });
    case "remote":
      return new RemoteStore({ ...options, address: parsed.address });
    case "etcd":
      return openEtcd(parsed, options);
    case "redis":
      return openRedis(parsed, options);
    case "postgres":
      return openPostgres(parsed, options);
  }
}

/** Messages name the scheme but not the rest: an address of another store may hold a password. */
export function parseStoreUrl(url: string): StoreUrl {
  const match = /^(?<scheme>[A-Za-z][A-Za-z0-9+-]*):(?<rest>.*)$/s.exec(url);
  const scheme = match?.groups?.["scheme"]?.toLowerCase();
  const rest = match?.groups?.["rest"] ?? "";
  if (url.trim() === "") throw new StoreUrlError(`the store is empty: write ${forms()}`);
  if (url.trim() !== url) throw new StoreUrlError("the store has a space before or after it: leave that out");
  // A folder may well be called by a number, and a kind may lack its slashes; a host and a port are no kind.
  const bare = !Object.hasOwn(FORMS, scheme ?? "") && /^[\w.-]+:\d+$/.test(url);
  if (scheme === undefined || bare) {
    const like = bare ? `etcd://${url}, say` : `embedded:${url}`;
    throw new StoreUrlError(`store "${url}" names no kind: write ${like}, or ${forms()}`);
  }
  if (scheme === "memory") {
    if (rest === "" || rest === "//") return { kind: "memory" };
    throw new StoreUrlError("a memory store has no address: write memory:");
  }
  if (scheme === "embedded") return embedded(rest);
  if (scheme === "etcd") return parseEtcdUrl(rest);
  if (scheme === "redis" || scheme === "rediss") return parseRedisUrl(rest, scheme);
  if (scheme === "postgres" || scheme === "postgresql") return parsePostgresUrl(rest);
  // As etcd's own tools write it.
  const near = /^https?$/.test(scheme) ? "etcd" : nearest(scheme, Object.keys(FORMS));
  throw new StoreUrlError(
    `unknown store "${scheme}:"${near === undefined ? "" : ` (did you mean "${near}:"?)`}: write ${forms()}`,
  );
}

function embedded(rest: string): StoreUrl {
  if (rest === "") throw new StoreUrlError("embedded: names no folder: write embedded:./data, say");
  if (!rest.startsWith("//")) return { kind: "embedded", folder: rest };
  const address = rest.slice(2).replace(/\/$/, "");
  try {
    parseAddress(address);
  } catch (cause) {
    throw new StoreUrlError(
      `embedded://${address} is no host and port: write embedded://127.0.0.1:7400, say, or embedded:/path for a folder`,
      { cause },
    );
  }
  return { kind: "remote", address };
}

function forms(): string {
  const all = Object.values(FORMS).flat();
  return `${all.slice(0, -1).join(", ")} or ${String(all.at(-1))}`;
}
