/**
 * A real Postgres for tests: one cluster, superuser `postgres` without a password on loopback. It refuses to run as root, so root runs it as the
 * user `postgres` that the Debian package makes.
 */
import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ask } from "./ask.ts";
import { requireProgram } from "./debian.ts";
import { startOnFreePort } from "./retry-port.ts";
import { serverFolder, type TestServer } from "./server-process.ts";

export interface PostgresOptions {
  /** Waits for the disk. Without it what was acknowledged survives the end of the process, not that of the machine. Default false. */
  readonly fsync?: boolean;
  /** Further settings, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

export async function startPostgres({
  fsync = false,
  settings = {},
}: PostgresOptions = {}): Promise<TestServer> {
  const file = requireProgram("postgres", "postgres");
  const initdb = requireProgram("postgres", "initdb");
  const user = process.getuid?.() === 0 ? postgresUser() : undefined;
  return startOnFreePort(async (port) => {
    const folder = serverFolder("postgres", user);
    const data = join(folder, "data");
    await promisify(execFile)(
      initdb,
      [
        "-D",
        data,
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
        "--no-sync",
        "--no-instructions",
      ],
      { cwd: folder, ...user },
    );
    const all = {
      listen_addresses: "127.0.0.1",
      port: `${port}`,
      unix_socket_directories: "",
      fsync: fsync ? "on" : "off",
      max_connections: "200",
      ...settings,
    };
    return {
      name: "postgres",
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      port,
      folder,
      // Ends the connections that tests left open, and every process of the cluster.
      stopSignal: "SIGINT",
      command: {
        file,
        args: ["-D", data, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
        ...(user === undefined ? {} : { user }),
      },
      ready: async () => (await ask(port, startupMessage())).toString("latin1", 0, 1) === "R",
    };
  });
}

function postgresUser(): { uid: number; gid: number } {
  const id = (flag: string): number =>
    Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }).trim());
  return { uid: id("-u"), gid: id("-g") };
}

/** What a client sends first. A server that still recovers answers with an error ("E"), one that serves with "R". */
function startupMessage(): Buffer {
  const body = Buffer.from("\0\x03\0\0user\0postgres\0database\0postgres\0\0", "latin1");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
}
