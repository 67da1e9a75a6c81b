/** How a verb reaches the fleet: through a gateway, or straight from the store with `--store`. The flags are the same for all of them. */
import { hostname, userInfo } from "node:os";
import { Option, type Command } from "commander";
import type { FleetAdmin, Wisher } from "@keelson/runtime";
import type { TlsSettings } from "../config/tls.ts";
import { UsageError } from "../failure.ts";
import { Printer } from "../report/printer.ts";
import { gatewayDoor, type GatewayDoor } from "./gateway-door.ts";
import { HttpAdmin } from "./http-admin.ts";

/** Where `keelson up` and `keelson gateway` listen unless told otherwise. */
export const GATEWAY_LISTEN = "127.0.0.1:7600";

export interface DoorOptions {
  readonly url?: string;
  readonly token?: string;
  readonly store?: string;
  readonly fleet?: string;
  readonly json?: boolean;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsName?: string;
}

/** Adds the flags that say which fleet, and how to print. */
export function withDoor(command: Command): Command {
  return withGateway(command)
    .addOption(
      new Option("--store <url>", "ask the store itself, when there is no gateway").env("KEELSON_STORE"),
    )
    .addOption(new Option("--fleet <name>", "which fleet of the store").env("KEELSON_FLEET").default("main"))
    .addOption(
      new Option("--tls-ca <file>", "with --store: the fleet's authority, when nodes have TLS").env(
        "KEELSON_TLS_CA",
      ),
    )
    .addOption(new Option("--tls-cert <file>", "a certificate of that authority").env("KEELSON_TLS_CERT"))
    .addOption(new Option("--tls-key <file>", "its private key").env("KEELSON_TLS_KEY"))
    .addOption(new Option("--tls-name <name>", "the name that certificates bear").env("KEELSON_TLS_NAME"));
}

/** The same for verbs that only a gateway can answer. */
export function withGateway(command: Command): Command {
  return command
    .addOption(new Option("--json", "print JSON, for programs"))
    .addOption(
      new Option("--url <url>", "the gateway").env("KEELSON_URL").default(`http://${GATEWAY_LISTEN}`),
    )
    .addOption(
      new Option("--token <token>", "shown to the gateway; better in KEELSON_TOKEN").env("KEELSON_TOKEN"),
    );
}

export interface Door {
  readonly admin: FleetAdmin;
  readonly print: Printer;
  /** Who asks, for others to read. */
  readonly wisher: (reason: string | undefined) => Wisher;
}

/** Opens the door, does the work, and closes it, however the work ends. */
export async function throughDoor(command: Command, work: (door: Door) => Promise<void>): Promise<void> {
  const options = command.opts<DoorOptions>();
  const print = new Printer(options.json === true);
  const wisher = (reason: string | undefined): Wisher => ({ by: self(), reason: reason ?? "" });
  const store = storeNamed(command, options);
  if (store === undefined) {
    await work({ admin: new HttpAdmin(doorOf(options)), print, wisher });
    return;
  }
  const { openStoreAdmin } = await import("./store-admin.ts");
  const opened = await openStoreAdmin(store, options.fleet ?? "main", tlsOf(options));
  try {
    await work({ admin: opened.admin, print, wisher });
  } finally {
    await opened.close();
  }
}

/** The store that shall be asked itself; undefined when a gateway shall. A flag wins over the environment: who names a gateway means it, though a store is set for nodes. */
export function storeNamed(command: Command, { store }: DoorOptions): string | undefined {
  const byEnvironment = command.getOptionValueSource("store") === "env";
  if (store === undefined || (byEnvironment && command.getOptionValueSource("url") === "cli"))
    return undefined;
  return storeOf(store);
}

export function tlsOf({ tlsCa, tlsCert, tlsKey, tlsName }: DoorOptions): TlsSettings {
  return { ca: tlsCa, cert: tlsCert, key: tlsKey, name: tlsName, prefix: "tls" };
}

export function doorOf({ url = `http://${GATEWAY_LISTEN}`, token }: DoorOptions): GatewayDoor {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`--url must be like http://${GATEWAY_LISTEN}, not "${url}"`);
  return gatewayDoor(url, token);
}

function storeOf(url: string): string {
  if (/^(?:memory:|embedded:(?!\/\/))/.test(url))
    throw new UsageError(
      `--store ${url} is inside another process: ask its gateway with --url, or name a served store such as embedded://127.0.0.1:7400`,
    );
  return url;
}

function self(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user without an entry in the system's list, as in a container.
    return process.env["USER"] ?? "somebody";
  }
}
