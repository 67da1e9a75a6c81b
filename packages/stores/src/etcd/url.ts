/**
 * The address of an etcd: `etcd://[user:password@]host[:port][,host[:port]…][/namespace][?tls&ca=…&cert=…&key=…&servername=…]`. Messages never show what
 * stands before the `@`.
 */
import type { Clock, Random } from "@keelson/kernel";
import { parseAddress, type HostPort } from "@keelson/wire";
import { readFileSync } from "node:fs";
import { StoreUrlError } from "../errors.ts";
import { EtcdStore } from "./etcd-store.ts";

export interface EtcdUrl {
  readonly kind: "etcd";
  readonly endpoints: readonly HostPort[];
  /** With the slash before it, as it is put before every key. */
  readonly namespace?: string;
  readonly user?: { readonly name: string; readonly password: string };
  /** `ca`, `cert` and `key` are files in PEM. */
  readonly tls?: Readonly<Partial<Record<TlsParameter, string>>>;
}

type TlsParameter = "ca" | "cert" | "key" | "servername";

const TLS_PARAMETERS: readonly string[] = ["ca", "cert", "key", "servername"] satisfies TlsParameter[];

export const ETCD_FORM = "etcd://<host>:<port>[,<host>:<port>…][/<namespace>]";

const PORT = 2379;
const PARTS = /^\/\/(?:(?<login>[^@/?]*)@)?(?<hosts>[^/?@]*)(?:\/(?<namespace>[^?]*))?(?:\?(?<query>.*))?$/s;
const NAMESPACE = /^[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*$/;

/** Takes what follows `etcd:`. */
export function parseEtcdUrl(rest: string): EtcdUrl {
  const parts = PARTS.exec(rest)?.groups;
  if (parts === undefined) throw wrong("etcd: is not followed by //");
  const { login, hosts = "", namespace = "", query } = parts;
  const path = namespace.replace(/\/$/, "");
  if (path !== "" && !NAMESPACE.test(path))
    throw wrong(`namespace "${path}" may have letters, digits and . _ ~ - between its slashes`);
  const tls = query === undefined ? undefined : tlsIn(query);
  return {
    kind: "etcd",
    endpoints: hosts.split(",").map(endpoint),
    ...(path === "" ? {} : { namespace: `/${path}` }),
    ...(login === undefined ? {} : { user: userIn(login) }),
    ...(tls === undefined ? {} : { tls }),
  };
}

/** Reads the files that the address names. Throws StoreUrlError; it does not connect. */
export function openEtcd(
  { endpoints, namespace, user, tls }: EtcdUrl,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): EtcdStore {
  const files = Object.entries(tls ?? {}).map(([name, value]) => [
    name,
    name === "servername" ? value : contents(name, value),
  ]);
  const read = tls === undefined ? undefined : (Object.fromEntries(files) as Record<TlsParameter, string>);
  return new EtcdStore({ clock, random, endpoints, namespace, user, tls: read });
}

function endpoint(text: string): HostPort {
  const withPort =
    /:\d+$/.test(text) && !/^[0-9a-fA-F:]*::[0-9a-fA-F:]*$/.test(text) ? text : `${text}:${PORT}`;
  try {
    return parseAddress(withPort);
  } catch (cause) {
    throw new StoreUrlError(
      text === ""
        ? `etcd:// names no host, or one too few: write ${ETCD_FORM}`
        : `etcd:// has "${text}" where a host and port belong: write 10.0.0.1:2379 or [::1]:2379, say`,
      { cause },
    );
  }
}

function userIn(login: string): { name: string; password: string } {
  const colon = login.indexOf(":");
  if (colon < 1) throw wrong("before the @ stand a user and a password: user:password@");
  try {
    return {
      name: decodeURIComponent(login.slice(0, colon)),
      password: decodeURIComponent(login.slice(colon + 1)),
    };
  } catch {
    throw wrong("the user or the password is not percent-encoded well: write %25 for %, %40 for @");
  }
}

function tlsIn(query: string): Partial<Record<TlsParameter, string>> | undefined {
  const given = new URLSearchParams(query);
  const unknown = [...given.keys()].find((name) => name !== "tls" && !TLS_PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw wrong(`parameter "${unknown}" is unknown: there are tls, ${TLS_PARAMETERS.join(", ")}`);
  const on = given.get("tls") ?? "on";
  if (!["", "on", "off"].includes(on)) throw wrong(`tls=${on}: write tls, tls=on or tls=off`);
  given.delete("tls");
  if (on === "off") {
    if (given.size > 0) throw wrong("tls=off goes with no other parameter");
    return undefined;
  }
  if (given.has("cert") !== given.has("key")) throw wrong("cert and key go together");
  return Object.fromEntries(given);
}

function contents(name: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StoreUrlError(`etcd://…?${name}= names a file that cannot be read: ${why}`, { cause });
  }
}

function wrong(what: string): StoreUrlError {
  return new StoreUrlError(`${what}: write ${ETCD_FORM}`);
}
