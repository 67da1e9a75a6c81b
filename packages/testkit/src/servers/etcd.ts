/** A real etcd for tests, of one member or several. Plain or with TLS; users are made by the test that wants them, through `etcdctl`. */
import { execFile } from "node:child_process";
import { get } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { requireProgram } from "./debian.ts";
import { freePort } from "./free-port.ts";
import { startOnFreePort } from "./retry-port.ts";
import { ServerProcess, flags, serverFolder, type ServerPlan, type TestServer } from "./server-process.ts";

export interface EtcdOptions {
  /** Files in PEM. With `clientCa` it asks clients for a certificate of that authority. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string };
  /** How long it waits before it elects itself, 1,000 when not given. Less starts faster, and the shortest lease is 1.5 times this, in whole seconds. */
  readonly electionMs?: number;
  /** Further arguments of the program. */
  readonly args?: readonly string[];
}

export async function startEtcd(options: EtcdOptions = {}): Promise<TestServer> {
  return startOnFreePort(async (port) => {
    const member = { name: "test", port, peerPort: await freePort(), metricsPort: await freePort() };
    return planOf(member, [member], options);
  });
}

/** Several members of one cluster; it serves as long as more than half of them run. */
export async function startEtcdCluster(size: number, options: EtcdOptions = {}): Promise<TestServer[]> {
  const members = await Promise.all(
    Array.from({ length: size }, async (_, n): Promise<Member> => {
      const [port, peerPort, metricsPort] = [await freePort(), await freePort(), await freePort()];
      return { name: `test${n}`, port, peerPort, metricsPort };
    }),
  );
  const starting = members.map((member) => ServerProcess.start(planOf(member, members, options)));
  const started = await Promise.allSettled(starting);
  const failed = started.find((each) => each.status === "rejected");
  if (failed === undefined) return Promise.all(starting);
  const running = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  await Promise.all(running.map((server) => server.stop()));
  throw failed.reason;
}

interface Member {
  readonly name: string;
  readonly port: number;
  readonly peerPort: number;
  readonly metricsPort: number;
}

function planOf(member: Member, members: readonly Member[], options: EtcdOptions): ServerPlan {
  const { tls, electionMs = 1_000, args = [] } = options;
  const folder = serverFolder("etcd");
  const url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${member.port}`;
  const peerUrl = (of: Member): string => `http://127.0.0.1:${of.peerPort}`;
  const metricsUrl = `http://127.0.0.1:${member.metricsPort}`;
  return {
    name: "etcd",
    url,
    port: member.port,
    folder,
    stopSignal: "SIGTERM",
    command: {
      file: requireProgram("etcd", "etcd"),
      args: [
        ...flags({
          name: member.name,
          "data-dir": join(folder, "data"),
          logger: "zap",
          "listen-client-urls": url,
          "advertise-client-urls": url,
          "listen-peer-urls": peerUrl(member),
          "initial-advertise-peer-urls": peerUrl(member),
          "initial-cluster": members.map((each) => `${each.name}=${peerUrl(each)}`).join(","),
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
