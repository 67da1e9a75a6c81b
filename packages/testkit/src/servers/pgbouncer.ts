/**
 * A real PgBouncer before a Postgres of the tests, in transaction mode: it lends one of a few server sessions to a client for one transaction, and then to another. User
 * `postgres` without a password, as the server itself.
 */
import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireProgram } from "./debian.ts";
import { postgresUser, servesPostgres } from "./postgres.ts";
import { startOnFreePort } from "./retry-port.ts";
import { serverFolder, type TestServer } from "./server-process.ts";

/** Fewer than any test has clients, so that they do share. */
const SESSIONS = 3;

export async function startPgBouncer(postgres: TestServer): Promise<TestServer> {
  const file = requireProgram("pgbouncer", "pgbouncer");
  const user = postgresUser();
  return startOnFreePort((port) => {
    const folder = serverFolder("pgbouncer", user);
    const write = (name: string, text: string): string => {
      const path = join(folder, name);
      writeFileSync(path, text, { mode: 0o600 });
      if (user !== undefined) chownSync(path, user.uid, user.gid);
      return path;
    };
    const users = write("users.txt", `"postgres" ""\n`);
    const settings = write(
      "pgbouncer.ini",
      `[databases]
* = host=127.0.0.1 port=${postgres.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${SESSIONS}
max_client_conn = 400
; By default it asks a server that was away only every 15 s, whatever clients ask.
server_login_retry = 0.1
`,
    );
    return {
      name: "pgbouncer",
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      port,
      folder,
      // At once: SIGINT would wait for clients.
      stopSignal: "SIGTERM",
      command: { file, args: [settings], ...(user === undefined ? {} : { user }) },
      ready: () => servesPostgres(port),
    };
  });
}
