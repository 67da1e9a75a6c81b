/**
 * A whole fleet in one process, for `keelson up`: an embedded store, folder objects, nodes with their own ports on loopback, the fleet's admin and a gateway,
 * with everything they keep in one folder. The parts are those of a real fleet and know of each other only what they would know there.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { startGateway, withAudit, withTokens, type Gateway } from "@keelson/gateway";
import { terms, type Decision } from "@keelson/kernel";
import {
  LocalAdmin,
  SystemClock,
  askOver,
  fleetApi,
  fleetMirror,
  systemRandom,
  type AnyPlugin,
  type KeelsonError,
} from "@keelson/runtime";
import { EmbeddedStore, FolderLock } from "@keelson/stores/embedded";
import { WirePool } from "@keelson/wire";
import { parseListen } from "../config/listen.ts";
import type { ConfigOf } from "../config/settings.ts";
import { RunError, listenFailure } from "../failure.ts";
import { markFirstRun } from "../first-run/first-mark.ts";
import { openAudit } from "../gateway/audit.ts";
import { rateLimits } from "../gateway/rates.ts";
import { openTokens } from "../gateway/tokens.ts";
import { openFleetObjects } from "../node/fleet-objects.ts";
import { FolderMemory } from "../node/folder-memory.ts";
import { openLog } from "../node/log.ts";
import { ServedNode } from "../node/served-node.ts";
import { serviceFolder } from "../node/service-folder.ts";
import { openTraces } from "../node/traces.ts";
import { version } from "../version.ts";
import { makeFirstToken } from "./first-token.ts";

export interface LocalFleetOptions {
  readonly config: ConfigOf<"up">;
  readonly plugins: readonly AnyPlugin[];
  /** Each plug-in's section. */
  readonly sections: Readonly<Record<string, unknown>>;
  /** A step is done, for people. */
  readonly step: (what: string, text: string) => void;
  readonly decided: (decision: Decision) => void;
  readonly problem: (text: string) => void;
  /** A node cannot go on. */
  readonly fatal: (error: KeelsonError) => void;
}

const GATEWAY_GRACE_MS = 5_000;
const LOOPBACK = { host: "127.0.0.1", port: 0 };

/** What was started, to be ended in the opposite order, whatever of it there is. */
type Ending = () => Promise<void> | void;

export class LocalFleet {
  readonly #options: LocalFleetOptions;
  readonly #clock = new SystemClock();
  readonly #endings: Ending[] = [];
  readonly #nodes: ServedNode[] = [];
  #gateway: Gateway | undefined;

  constructor(options: LocalFleetOptions) {
    this.#options = options;
  }

  /** Where its gateway listens, once it does. */
  get url(): string {
    return this.#gateway?.url ?? "";
  }

  /** Where a browser finds the console: with the operators' listener, if there is one. */
  get consoleUrl(): string {
    return `${this.#gateway?.adminUrl ?? this.url}/console/`;
  }

  /** Where its nodes take requests, once they do. */
  get addresses(): readonly string[] {
    return this.#nodes.map(({ address }) => address);
  }

  /** Resolves when requests are answered. What had begun is ended when it rejects. */
  async start(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  /** No more requests, then every node lets go of what it holds, then the store is closed and the folder is free. Rejects when there is no folder any more. */
  async stop(): Promise<void> {
    await this.#gateway?.stop({ graceMs: GATEWAY_GRACE_MS });
    this.#gateway = undefined;
    await Promise.all(this.#nodes.map(({ node }) => node.leave()));
    await this.#end();
    const store = join(resolve(this.#options.config.data), "store");
    if (!existsSync(store))
      throw new RunError(
        `it was stopped, but ${store} was removed while it was in use: what was kept there is gone, and the next start begins with nothing`,
      );
  }

  async #start(): Promise<void> {
    const { config, plugins, step } = this.#options;
    const { fleet } = config;
    const clock = this.#clock;
    const random = systemRandom;
    const data = resolve(config.data);
    const lock = FolderLock.acquire(data, clock);
    this.#endings.push(() => lock.release());

    const store = await EmbeddedStore.open({ folder: join(data, "store"), clock, random });
    this.#endings.push(() => store.close());
    if (store.origin === "new") markFirstRun(data);
    step("store", store.origin === "new" ? `${data}, new` : `${data}, as it was left`);

    const objects = await openFleetObjects({
      url: `file://${join(data, "objects")}`,
      fleet,
      by: "up",
      clock,
      random,
      progress: (line) => step("objects", line),
    });
    this.#endings.push(() => objects.close());

    const names = Array.from({ length: config.nodes }, (_, n) => String.fromCharCode(97 + n));
    await Promise.all(names.map((name) => this.#startNode(name, data, store, objects)));
    const addresses = this.#nodes.map(({ address }) => address);
    step("nodes", `${names.join(", ")} serve ${plugins.map(({ name }) => name).join(", ")}`);

    const pool = new WirePool({ clock, random, name: "admin" });
    this.#endings.push(() => pool.close());
    const own = store.connect();
    this.#endings.push(() => own.close());
    const mirror = fleetMirror(fleet, { store: own, clock, random }, terms({ ttlMs: config.ttl }));
    const admin = new LocalAdmin({ fleet, mirror, store: own, clock, random, ask: askOver(pool) });
    mirror.start();
    this.#endings.push(() => {
      admin.close();
      mirror.stop();
    });
    const tokens = openTokens(config.tokens, { fleet, store: own, clock, problem: this.#options.problem });
    const firstToken = join(data, "first-token");
    if (tokens?.keeper.place === "store" && (await makeFirstToken(tokens.keeper, firstToken)))
      step("token", `${firstToken} has the first one, with the scope admin`);
    const audit = await openAudit(config.audit ?? join(data, "audit.jsonl"), clock, this.#options.problem);
    this.#endings.push(() => audit.close());
    this.#gateway = await startGateway({
      fleet,
      plugins,
      apis: [withAudit(withTokens(fleetApi(admin), tokens && { ...tokens, clock }), audit)],
      listen: parseListen(config.listen),
      nodes: addresses,
      store: own,
      clock,
      random,
      log: openLog(config.log, { fleet, gateway: "up" }),
      tokens: tokens?.source,
      audit,
      adminListen: config["admin-listen"] === undefined ? undefined : parseListen(config["admin-listen"]),
      limits: rateLimits(config["token-rate"], config["address-rate"]),
      ...(config["grpc-listen"] === undefined ? {} : { grpcListen: parseListen(config["grpc-listen"]) }),
      ...(config.otlp === undefined ? {} : { traces: { otlpUrl: config.otlp, sampleRatio: 1 } }),
      insecure: config.insecure,
    }).catch((error: unknown) => {
      throw listenFailure(error, config.listen, "--listen");
    });
    step("gateway", this.#gateway.url);
    if (this.#gateway.adminUrl !== undefined) step("admin", this.#gateway.adminUrl);
    await this.#held(admin);
  }

  async #startNode(
    name: string,
    data: string,
    store: EmbeddedStore,
    objects: Awaited<ReturnType<typeof openFleetObjects>>,
  ): Promise<void> {
    const { config, plugins, sections, decided, problem, fatal } = this.#options;
    const { fleet } = config;
    const clock = this.#clock;
    const folder = join(data, "nodes", name);
    const memory = FolderMemory.open({ folder, fleet, node: name, clock, onProblem: problem });
    this.#endings.push(() => memory.close());
    const client = store.connect();
    this.#endings.push(() => client.close());
    const traces = openTraces(config.otlp, { node: name, clock, random: systemRandom });
    this.#endings.push(() => traces?.close());
    const served = await ServedNode.listen({
      fleet,
      node: name,
      version: version(),
      plugins,
      config: sections,
      objects: (service) => objects.service(service),
      dataFolder: (service) => serviceFolder(folder, service),
      log: openLog(config.log, { fleet, node: name }),
      terms: { ttlMs: config.ttl },
      listen: LOOPBACK,
      store: client,
      clock,
      random: systemRandom,
      eras: objects.eras,
      memory,
      tracer: traces?.tracer,
      onDecision: decided,
      onFatal: fatal,
    });
    this.#endings.push(async () => {
      served.node.abandon();
      await served.close();
    });
    this.#nodes.push(served);
    await served.node.start();
  }

  /** Waits until all shards are held, so that the first request is answered like any other. */
  async #held(admin: LocalAdmin): Promise<void> {
    for (;;) {
      const { services } = await admin.status();
      const wanted = services.reduce((sum, service) => sum + service.wanted - service.quarantined, 0);
      const held = services.reduce((sum, service) => sum + service.held, 0);
      if (services.length >= this.#options.plugins.length && held >= wanted) {
        this.#options.step("shards", `${held} held`);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #end(): Promise<void> {
    await this.#gateway?.stop({ graceMs: 0 });
    this.#gateway = undefined;
    // One that fails keeps no other from being ended: what is left open would keep the process from ending.
    let failed: { readonly error: unknown } | undefined;
    for (const end of this.#endings.splice(0).reverse())
      try {
        await end();
      } catch (error) {
        failed ??= { error };
      }
    if (failed) throw failed.error;
  }
}
