/** `keelson gateway`: the HTTP front door of a fleet, until it is told to stop. */
import { startGateway, withAudit, withTokens, type AuditLog } from "@keelson/gateway";
import { Command } from "commander";
import { terms } from "@keelson/kernel";
import { LocalAdmin, SystemClock, askOver, fleetApi, fleetMirror, systemRandom } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import { WirePool } from "@keelson/wire";
import { parseListen } from "../config/listen.ts";
import { loadConfig } from "../config/load.ts";
import { flagsOf, withSettings } from "../config/options.ts";
import type { ConfigOf } from "../config/settings.ts";
import { openTls, openedWith } from "../config/tls.ts";
import { listenFailure, UsageError } from "../failure.ts";
import { openAudit } from "../gateway/audit.ts";
import { rateLimits } from "../gateway/rates.ts";
import { openTokens } from "../gateway/tokens.ts";
import { openLog } from "../node/log.ts";
import { loadPlugins } from "../node/plugins.ts";
import { timeOfDay } from "../report/ago.ts";
import { StoreNews } from "../report/store-news.ts";
import { stopSignal } from "../stop-signal.ts";

type GatewayConfig = ConfigOf<"gateway">;

const GRACE_MS = 10_000;
const READY_MS = 60_000;
/** How often it is looked whether the store answers. */
const LOOK_MS = 500;

export function gatewayCommand(): Command {
  const command = new Command("gateway");
  return withSettings(command, "gateway").action(async (options: Record<string, unknown>) => {
    const { config } = loadConfig("gateway", { ...flagsOf(options), environment: process.env });
    if ((config["tls-cert"] === undefined) !== (config["tls-key"] === undefined))
      throw new UsageError("TLS needs both --tls-cert and --tls-key");
    await run(config);
  });
}

async function run(config: GatewayConfig): Promise<void> {
  const { fleet } = config;
  const plugins = await loadPlugins(config.service);
  const clock = new SystemClock();
  const random = systemRandom;
  const problem = (text: string): void => void process.stderr.write(`keelson: ${text}\n`);
  const { "node-tls-ca": ca, "node-tls-cert": cert, "node-tls-key": key, "node-tls-name": name } = config;
  const nodeTls = openTls({ ca, cert, key, name, prefix: "node-tls" }, { clock, say, problem });
  const ports = { clock, random, name: "gateway", ...nodeTls?.client };
  const store = await openedWith(nodeTls, openStore(config.store, ports));
  const pool = new WirePool({ ...ports, name: "gateway admin" });
  const mirror = fleetMirror(fleet, { store, clock, random }, terms());
  const admin = new LocalAdmin({ fleet, mirror, store, clock, random, ask: askOver(pool) });
  mirror.start();
  const news = new StoreNews({
    mirror,
    say,
    meanwhile: "requests go where its shards were last known to be",
  });
  const looking = setInterval(() => news.look(), LOOK_MS);
  let audit: AuditLog | undefined;
  try {
    const { "tls-cert": certFile, "tls-key": keyFile, "grpc-listen": grpcListen } = config;
    const tokens = openTokens(config.tokens, { fleet, store, clock, problem });
    audit = await openAudit(config.audit, clock, problem);
    const gateway = await startGateway({
      fleet,
      plugins,
      apis: [withAudit(withTokens(fleetApi(admin), tokens && { ...tokens, clock }), audit)],
      listen: parseListen(config.listen),
      ...(config.node === undefined ? {} : { nodes: config.node }),
      store,
      nodeConnect: nodeTls?.client.connect,
      clock,
      random,
      log: openLog(config.log, { fleet, gateway: config.listen }),
      tokens: tokens?.source,
      audit,
      adminListen: config["admin-listen"] === undefined ? undefined : parseListen(config["admin-listen"]),
      limits: {
        ...rateLimits(config["token-rate"], config["address-rate"]),
        ...(config["token-stale"] === undefined ? {} : { tokenStaleMsMax: config["token-stale"] }),
      },
      ...(certFile === undefined || keyFile === undefined ? {} : { tls: { certFile, keyFile } }),
      ...(grpcListen === undefined ? {} : { grpcListen: parseListen(grpcListen) }),
      ...(config.otlp === undefined ? {} : { traces: { otlpUrl: config.otlp, sampleRatio: 1 } }),
      insecure: config.insecure,
    }).catch((error: unknown) => {
      throw listenFailure(error, config.listen, "--listen");
    });
    say(`gateway of fleet ${fleet} listens on ${gateway.url}`);
    if (gateway.adminUrl !== undefined) say(`operators are served at ${gateway.adminUrl}`);
    const stop = stopSignal();
    // Until then it answers that it is not ready; it may be started before the first node, and waits for as long as it takes.
    void gateway.ready(READY_MS).then(
      () => say("ready: it knows the fleet"),
      () => say("not ready yet: no node and no store has told it of the fleet"),
    );
    const signal = await stop;
    say(`${signal}: letting requests finish (again: at once)`);
    await gateway.stop({ graceMs: GRACE_MS });
    say("stopped");
  } finally {
    clearInterval(looking);
    await audit?.close();
    admin.close();
    mirror.stop();
    pool.close();
    nodeTls?.stop();
    await store.close();
  }
}

function say(line: string): void {
  process.stdout.write(`${timeOfDay(Date.now())} ${line}\n`);
}
