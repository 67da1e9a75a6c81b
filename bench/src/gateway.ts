/**
 * What the gateway adds to a request: CPU over calling the node directly, and latency under load beside nginx as a plain proxy in front of the
 * cheapest HTTP server there is. Node, gateway, nginx and its upstream are processes of their own; the client's CPU is nobody's overhead.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createToken, writeTokenFile } from "@keelson/gateway";
import { SystemClock, systemRandom } from "@keelson/runtime";
import { ensureServers, startNginx } from "@keelson/testkit/servers";
import { WirePool, WireTransport } from "@keelson/wire";
import type { Bench, BenchContext } from "./bench.ts";
import { cpuMicros } from "./gateway/cpu.ts";
import { ECHO_SHARDS } from "./gateway/echo-plugin.ts";
import type { GatewaySaid } from "./gateway/gateway-process.ts";
import { HttpLoad, quantile, type LoadResult } from "./gateway/http-load.ts";
import type { NodeSaid } from "./gateway/node-process.ts";
import type { UpstreamSaid } from "./gateway/upstream-process.ts";
import { median } from "./median.ts";
import { wholeNumber } from "./options.ts";
import { Child } from "./process/child.ts";

/** The promise that the run keeps or breaks. */
const OVERHEAD_US_MAX = 150;

const gateway: Bench = {
  name: "gateway",
  title: "what the gateway adds to a request, beside nginx",
  async run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: {
        requests: { type: "string", default: "20000" },
        rounds: { type: "string", default: "5" },
        connections: { type: "string", default: "32" },
        rate: { type: "string", default: "1000" },
        seconds: { type: "string", default: "8" },
      },
    });
    const plan = {
      requests: wholeNumber("requests", values.requests, 10, 10_000_000),
      rounds: wholeNumber("rounds", values.rounds, 1, 100),
      connections: wholeNumber("connections", values.connections, 1, 1_000),
      rate: wholeNumber("rate", values.rate, 1, 100_000),
      seconds: wholeNumber("seconds", values.seconds, 1, 3_600),
    };
    await ensureServers(["nginx"], context.progress);
    const stage = await Stage.open();
    try {
      return await measure(stage, plan, context);
    } finally {
      await stage.close();
    }
  },
};

export default gateway;

interface Plan {
  readonly requests: number;
  readonly rounds: number;
  readonly connections: number;
  readonly rate: number;
  readonly seconds: number;
}

async function measure(stage: Stage, plan: Plan, context: BenchContext): ReturnType<Bench["run"]> {
  const { requests, rounds, connections, rate, seconds } = plan;
  const loads = {
    gateway: await HttpLoad.open({ url: stage.gatewayUrl, connections, token: stage.token }),
    nginx: await HttpLoad.open({ url: stage.nginxUrl, connections }),
  };
  let failed = 0;
  const run = async (load: Promise<LoadResult>): Promise<LoadResult> => {
    const result = await load;
    failed += result.failed;
    return result;
  };
  const path = (n: number): string => `/v1/echo/${n % ECHO_SHARDS}/hello-${n % 1_000}`;
  context.progress("warming up");
  await stage.direct(Math.min(requests, 5_000), connections);
  for (const load of Object.values(loads)) await run(load.closedLoop(Math.min(requests, 5_000), path));
  const overheads: number[] = [];
  const gatewayUs: number[] = [];
  const directUs: number[] = [];
  const nginxUs: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    context.progress(`CPU, round ${round} of ${rounds}: ${requests} requests directly, by gateway, by nginx`);
    const direct = await stage.cpuOf(["node"], requests, () => stage.direct(requests, connections));
    const through = await stage.cpuOf(["node", "gateway"], requests, () =>
      run(loads.gateway.closedLoop(requests, path)),
    );
    const proxy = await stage.cpuOf(["nginx"], requests, () => run(loads.nginx.closedLoop(requests, path)));
    overheads.push(through.total - direct.total);
    gatewayUs.push(through.of("gateway"));
    directUs.push(direct.total);
    nginxUs.push(proxy.total);
  }
  const latencies: Record<"gateway" | "nginx", LoadResult[]> = { gateway: [], nginx: [] };
  for (let round = 1; round <= 3; round++) {
    context.progress(`latency, round ${round} of 3: ${rate} requests/s for ${seconds} s each`);
    for (const name of ["gateway", "nginx"] as const)
      latencies[name].push(await run(loads[name].openLoop(rate, seconds, path)));
  }
  for (const load of Object.values(loads)) load.close();
  const overheadCpuUs = median(overheads);
  const at = (name: "gateway" | "nginx", q: number): number =>
    median(latencies[name].map(({ latenciesMs }) => quantile(latenciesMs, q)));
  return {
    figures: {
      overheadCpuUs,
      gatewayCpuUs: median(gatewayUs),
      directNodeCpuUs: median(directUs),
      p50Ms: at("gateway", 0.5),
      p99Ms: at("gateway", 0.99),
      failed,
    },
    peers: { nginx: { p50Ms: at("nginx", 0.5), p99Ms: at("nginx", 0.99), proxyCpuUs: median(nginxUs) } },
    broken: [
      ...(overheadCpuUs < OVERHEAD_US_MAX
        ? []
        : [
            `a request costs ${overheadCpuUs.toFixed(0)} µs of CPU more than asking the node, not below ${OVERHEAD_US_MAX}`,
          ]),
      ...(failed === 0 ? [] : [`${failed} requests failed`]),
    ],
  };
}

type Part = "node" | "gateway" | "nginx";

/** The processes that are measured. */
class Stage {
  readonly token: string;
  readonly #folder: string;
  readonly #node: Child<NodeSaid>;
  readonly #gateway: Child<GatewaySaid>;
  readonly #upstream: Child<UpstreamSaid>;
  readonly #nginx: Awaited<ReturnType<typeof startNginx>>;
  readonly #pool = new WirePool({ clock: new SystemClock(), random: systemRandom, name: "bench" });
  readonly #address: string;
  readonly gatewayUrl: string;

  private constructor(parts: {
    token: string;
    folder: string;
    node: Child<NodeSaid>;
    gateway: Child<GatewaySaid>;
    upstream: Child<UpstreamSaid>;
    nginx: Awaited<ReturnType<typeof startNginx>>;
    address: string;
    url: string;
  }) {
    this.token = parts.token;
    this.#folder = parts.folder;
    this.#node = parts.node;
    this.#gateway = parts.gateway;
    this.#upstream = parts.upstream;
    this.#nginx = parts.nginx;
    this.#address = parts.address;
    this.gatewayUrl = parts.url;
  }

  static async open(): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), "keelson-bench-gateway-"));
    const { token, record } = createToken({ name: "bench", scope: "read" }, Date.now());
    const tokenFile = join(folder, "tokens.json");
    await writeTokenFile(tokenFile, [record]);
    const node = new Child<NodeSaid>("node", "gateway/node-process.js", {});
    const { address } = await node.says("serving");
    const gatewayChild = new Child<GatewaySaid>("gateway", "gateway/gateway-process.js", {
      node: address,
      tokenFile,
    });
    const upstream = new Child<UpstreamSaid>("upstream", "gateway/upstream-process.js", {});
    const { url } = await gatewayChild.says("serving");
    const nginx = await startNginx({ upstream: (await upstream.says("serving")).address });
    return new Stage({ token, folder, node, gateway: gatewayChild, upstream, nginx, address, url });
  }

  get nginxUrl(): string {
    return this.#nginx.url;
  }

  /** The same requests, by wire, with nobody in between. */
  async direct(requests: number, concurrency: number): Promise<void> {
    const transport = new WireTransport(this.#pool);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let n = next++; n < requests; n = next++) {
        const request = {
          service: "echo",
          shard: String(n % ECHO_SHARDS),
          replica: 0,
          method: "say",
          mode: "read",
          body: `hello-${n % 1_000}`,
          timeoutMs: 10_000,
        } as const;
        const { kind } = await transport.call(this.#address, request, request);
        if (kind !== "ok") throw new Error(`the node answered ${kind}`);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
  }

  /** The CPU per request that those processes use while `work` runs. */
  async cpuOf(
    parts: readonly Part[],
    requests: number,
    work: () => Promise<unknown>,
  ): Promise<{ total: number; of: (part: Part) => number }> {
    const before = new Map(parts.map((part) => [part, cpuMicros(this.#pid(part))]));
    await work();
    const used = new Map(
      parts.map((part) => [part, (cpuMicros(this.#pid(part)) - (before.get(part) ?? 0)) / requests]),
    );
    const total = [...used.values()].reduce((sum, each) => sum + each, 0);
    return { total, of: (part) => used.get(part) ?? 0 };
  }

  async close(): Promise<void> {
    this.#pool.close();
    await Promise.all([this.#node.kill(), this.#gateway.kill(), this.#upstream.kill(), this.#nginx.stop()]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #pid(part: Part): number {
    return part === "nginx" ? this.#nginx.pid : part === "node" ? this.#node.pid : this.#gateway.pid;
  }
}
