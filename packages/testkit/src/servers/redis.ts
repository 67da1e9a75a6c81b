/** A real Redis for tests. It keeps an append-only file, so that a restart, even after SIGKILL, keeps what was acknowledged. */
import { requireProgram } from "./debian.ts";
import { ask } from "./ask.ts";
import { startOnFreePort } from "./retry-port.ts";
import { flags, serverFolder, type TestServer } from "./server-process.ts";

export interface RedisOptions {
  readonly password?: string;
  /** `no` loses everything with the process, as a cache would. Default `yes`. */
  readonly appendOnly?: "yes" | "no";
  /** Further arguments of the program. */
  readonly args?: readonly string[];
}

export async function startRedis(options: RedisOptions = {}): Promise<TestServer> {
  const { password, appendOnly = "yes", args = [] } = options;
  const file = requireProgram("redis", "redis-server");
  return startOnFreePort((port) => {
    const folder = serverFolder("redis");
    return {
      name: "redis",
      url: `redis://${password === undefined ? "" : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
      port,
      folder,
      stopSignal: "SIGTERM",
      command: {
        file,
        args: [
          ...flags({ port: `${port}`, bind: "127.0.0.1", dir: folder, save: "", appendonly: appendOnly }),
          ...(password === undefined ? [] : flags({ requirepass: password })),
          ...args,
        ],
      },
      ready: async () => /^(?:\+PONG|-NOAUTH)/.test((await ask(port, "PING\r\n")).toString()),
    };
  });
}
