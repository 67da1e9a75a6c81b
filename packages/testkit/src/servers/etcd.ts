/** A real etcd of one member, for tests. Plain or with TLS; users are made by the test that wants them, through `etcdctl`. */
import { execFile } from "node:child_process";
import { get } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { requireProgram } from "./debian.ts";
import { freePort } from "./free-port.ts";
import { startOnFreePort } from "./retry-port.ts";
import { flags, serverFolder, type TestServer } from "./server-process.ts";

export interface EtcdOptions {
  /** Files in PEM. With `clientCa` it asks clients for a certificate of that authority. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string };
  /** How long it waits before it elects itself, 1,000 when not given. Less starts faster, and the shortest lease is 1.5 times this, in whole seconds. */
  readonly electionMs?: number;
  /** Further arguments of the program. */
  readonly args?: readonly string[];
}

export async function startEtcd({
  tls,
  electionMs = 1_000,
  args = [],
}: EtcdOptions = {}): Promise<TestServer> {
  const file = requireProgram("etcd", "etcd");
  return startOnFreePort(async (port) => {
    const [peerPort, metricsPort] = [await freePort(), await freePort()];
    const folder = serverFolder("etcd");
    const url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
    const peerUrl = `http://127.0.0.1:${peerPort}`;
    const metricsUrl = `http://127.0.0.1:${metricsPort}`;
    return {
      name: "etcd",
      url,
      port,
      folder,
      stopSignal: "SIGTERM",
      command: {
        file,
        args: [
          ...flags({
            name: "test",
            "data-dir": join(folder, "data"),
            logger: "zap",
            "listen-client-urls": url,
            "advertise-client-urls": url,
            "listen-peer-urls": peerUrl,
            "initial-advertise-peer-urls": peerUrl,
            "initial-cluster": `test=${peerUrl}`,
            "listen-metrics-urls": metricsUrl,
            "heartbeat-interval": `${Math.ceil(electionMs / 10)}`,
            "election-timeout": `${electionMs}`,
          }),
          ...(tls === undefined ? [] : flags({ "cert-file": tls.cert, "key-file": tls.key })),
          ...(tls?.clientCa === undefined ? [] : ["--client-cert-auth", "--trusted-ca-file", tls.clientCa]),
          ...args,
        ],
      },
      ready: () => isHealthy(metricsUrl),
    };
  });
}

/** Runs `etcdctl` against a test's etcd and gives what it printed. */
export async function etcdctl(server: TestServer, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    requireProgram("etcd", "etcdctl"),
    ["--endpoints", server.url, ...args],
    { env: { PATH: process.env["PATH"], ETCDCTL_API: "3" }, timeout: 20_000 },
  );
  return stdout;
}

/** `/health` makes a linearizable read, so a healthy etcd serves. */
function isHealthy(url: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const request = get(`${url}/health`, { timeout: 1_000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("error", reject);
    request.on("timeout", () => request.destroy(new Error("no answer")));
  });
}
