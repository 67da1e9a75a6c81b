/**
 * A real Postgres for tests: one cluster, superuser `postgres` without a password on loopback; and a standby that follows it. It refuses to run as root, so root runs it as the
 * user `postgres` that the Debian package makes.
 */
import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ask } from "./ask.ts";
import { requireProgram } from "./debian.ts";
import { startOnFreePort } from "./retry-port.ts";
import { serverFolder, type ServerPlan, type TestServer } from "./server-process.ts";

export interface PostgresOptions {
  /** Waits for the disk. Without it what was acknowledged survives the end of the process, not that of the machine. Default false. */
  readonly fsync?: boolean;
  /** Further settings, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A server that follows another one, until it is promoted to serve by itself. */
export interface PostgresStandby extends TestServer {
  /** Resolves when it takes writes. */
  promote(): Promise<void>;
}

const run = promisify(execFile);

export async function startPostgres(options: PostgresOptions = {}): Promise<TestServer> {
  const initdb = requireProgram("postgres", "initdb");
  const user = postgresUser();
  return startOnFreePort(async (port) => {
    const folder = serverFolder("postgres", user);
    const data = join(folder, "data");
    const locale = ["-E", "UTF8", "--locale=C.UTF-8"];
    const args = ["-D", data, "-U", "postgres", "-A", "trust", ...locale, "--no-sync", "--no-instructions"];
    await run(initdb, args, { cwd: folder, ...user });
    return planOf("postgres", folder, port, options);
  });
}

/** Begins with a copy of the other server, and is told of every change by it as soon as it can. */
export async function startPostgresStandby(
  primary: TestServer,
  options: PostgresOptions = {},
): Promise<PostgresStandby> {
  const copy = requireProgram("postgres", "pg_basebackup");
  const control = requireProgram("postgres", "pg_ctl");
  const user = postgresUser();
  const server = await startOnFreePort(async (port) => {
    const folder = serverFolder("postgres-standby", user);
    const from = ["-h", "127.0.0.1", "-p", `${primary.port}`, "-U", "postgres"];
    const args = [...from, "-D", join(folder, "data"), "-R", "-X", "stream", "-c", "fast", "--no-sync"];
    await run(copy, args, { cwd: folder, ...user });
    return planOf("postgres-standby", folder, port, options);
  });
  const promote = async (): Promise<void> => {
    await run(control, ["promote", "-w", "-D", join(server.folder, "data")], {
      cwd: server.folder,
      ...user,
    });
  };
  return Object.assign(server, { promote });
}

function planOf(
  name: string,
  folder: string,
  port: number,
  { fsync = false, settings = {} }: PostgresOptions,
): ServerPlan {
  const user = postgresUser();
  const all = {
    listen_addresses: "127.0.0.1",
    port: `${port}`,
    unix_socket_directories: "",
    fsync: fsync ? "on" : "off",
    max_connections: "200",
    ...settings,
  };
  const set = Object.entries(all).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  return {
    name,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    folder,
    // Ends the connections that tests left open, and every process of the cluster.
    stopSignal: "SIGINT",
    command: {
      file: requireProgram("postgres", "postgres"),
      args: ["-D", join(folder, "data"), ...set],
      ...(user === undefined ? {} : { user }),
    },
    ready: () => servesPostgres(port),
  };
}

/** The user that Debian's package makes; undefined when we are not root, and run servers as ourselves. */
export function postgresUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number =>
    Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }).trim());
  return { uid: id("-u"), gid: id("-g") };
}

/** A server that still recovers answers with an error ("E"), one that serves with "R". */
export async function servesPostgres(port: number): Promise<boolean> {
  return (await ask(port, startupMessage())).toString("latin1", 0, 1) === "R";
}

/** What a client sends first. */
function startupMessage(): Buffer {
  const body = Buffer.from("\0\x03\0\0user\0postgres\0database\0postgres\0\0", "latin1");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
}
