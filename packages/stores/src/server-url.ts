/**
 * The parts that addresses of servers share: `//[user[:password]@]host[:port][,host[:port]…][/path][?name=value&…]`. Each store says which of them it wants and what they mean.
 * Messages never show what stands before the `@`.
 */
import { parseAddress, type HostPort } from "@keelson/wire";
import { readFileSync } from "node:fs";
import { StoreUrlError } from "./errors.ts";

/** Of the files and the name that a connection with TLS may need. */
export interface TlsParameters {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
}

export const TLS_PARAMETERS = ["ca", "cert", "key", "servername"] as const;

export interface ServerUrl {
  readonly hosts: readonly HostPort[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Without the slash before it; empty when there is none. */
  readonly path: string;
  readonly parameters: ReadonlyMap<string, string>;
}

export interface ServerUrlRules {
  /** As in `redis`. */
  readonly scheme: string;
  /** How the whole is written, for messages. */
  readonly form: string;
  /** When none is given. */
  readonly port: number;
  readonly parameters: readonly string[];
}

const PARTS = /^\/\/(?:(?<login>[^@/?]*)@)?(?<hosts>[^/?@]*)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/s;

/** Takes what follows the scheme and its colon. */
export function parseServerUrl(rest: string, rules: ServerUrlRules): ServerUrl {
  const parts = PARTS.exec(rest)?.groups;
  if (parts === undefined)
    throw wrong(rules, rest.startsWith("//") ? "it cannot be read" : "it is not followed by //");
  const { login, hosts = "", path = "", query } = parts;
  // What follows may be the rest of a password, and must not be shown.
  if (login === undefined && rest.includes("@"))
    throw wrong(rules, "before the @ something is not percent-encoded (%2F is /, %3F is ?, %40 is @)");
  const colon = login?.indexOf(":") ?? -1;
  const [user, password] = colon < 0 ? [login, undefined] : [login?.slice(0, colon), login?.slice(colon + 1)];
  return {
    hosts: hosts.split(",").map((text) => hostPort(text, rules)),
    user: user === undefined || user === "" ? undefined : decoded(user, rules),
    password: password === undefined ? undefined : decoded(password, rules),
    path: decoded(path.replace(/\/$/, ""), rules),
    parameters: parametersIn(query ?? "", rules),
  };
}

/** The address is wrong in this way. */
export function wrong(
  { scheme, form }: Pick<ServerUrlRules, "scheme" | "form">,
  what: string,
): StoreUrlError {
  return new StoreUrlError(`${scheme}: ${what}: write ${form}`);
}

/** What of TLS is among the parameters. */
export function tlsIn(parameters: ReadonlyMap<string, string>, rules: ServerUrlRules): TlsParameters {
  if (parameters.has("cert") !== parameters.has("key")) throw wrong(rules, "cert and key go together");
  return Object.fromEntries(
    TLS_PARAMETERS.flatMap((name) => {
      const value = parameters.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** With the contents of its files in the place of their names. */
export function readTls(tls: TlsParameters, scheme: string): TlsParameters {
  const read = Object.entries(tls).map(([name, value]) => [
    name,
    name === "servername" ? (value as string) : contents(scheme, name, value as string),
  ]);
  return Object.fromEntries(read) as TlsParameters;
}

function hostPort(text: string, rules: ServerUrlRules): HostPort {
  const bare = !/:\d+$/.test(text) || /^[0-9a-fA-F:]*::[0-9a-fA-F:]*$/.test(text);
  try {
    return parseAddress(bare ? `${text}:${rules.port}` : text);
  } catch (cause) {
    const error =
      text === ""
        ? wrong(rules, "it names no host, or one too few")
        : wrong(rules, `"${text}" stands where a host and port belong`);
    throw new StoreUrlError(error.message, { cause });
  }
}

function decoded(text: string, rules: ServerUrlRules): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong(rules, "a part is not percent-encoded well (%25 is %, %40 is @)");
  }
}

function parametersIn(query: string, rules: ServerUrlRules): ReadonlyMap<string, string> {
  const given = [...new URLSearchParams(query)];
  const unknown = given.find(([name]) => !rules.parameters.includes(name))?.[0];
  if (unknown !== undefined)
    throw wrong(rules, `parameter "${unknown}" is unknown (there are ${rules.parameters.join(", ")})`);
  return new Map(given);
}

function contents(scheme: string, name: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StoreUrlError(`${scheme}: ${name}= names a file that cannot be read: ${why}`, { cause });
  }
}
