/** Starts each system's server for the bench, at its best documented settings, on a folder of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, startRedis } from "@keelson/testkit/servers";
import { Child } from "../process/child.ts";
import type { RunningSystem } from "./measure.ts";
import type { ServerOptions, ServerSaid } from "./server-process.ts";
import { loadSystem } from "./system.ts";

export interface Contender {
  /** In the results, under `peers`. */
  readonly name: string;
  start(): Promise<RunningSystem & { stop(): Promise<void> }>;
}

function ours(name: string, server: Omit<ServerOptions, "folder">): Contender {
  return {
    name,
    async start() {
      const folder = mkdtempSync(join(tmpdir(), "keelson-bench-jobs-"));
      const child = new Child<ServerSaid>("server", "jobs/server-process.js", { ...server, folder });
      const { address } = await child.says("listening");
      return {
        system: "keelson",
        connect: address,
        pids: () => [child.pid],
        async stop() {
          await child.kill();
          rmSync(folder, { recursive: true, force: true });
        },
      };
    },
  };
}

/** Keeps nothing of jobs that have ended, as BullMQ and graphile-worker do here. */
export const keelson = ours("keelson", { shards: 4, retentionMs: 0 });
/** Keeps them for a week, where they can be looked up and listed, as it does by default. */
export const keelsonKept = ours("keelsonKept", { shards: 4 });

function bullmq(name: string, appendfsync: "always" | "everysec"): Contender {
  return {
    name,
    async start() {
      const redis = await startRedis({ args: ["--appendfsync", appendfsync] });
      return { system: "bullmq", connect: redis.url, pids: () => [redis.pid], stop: () => redis.stop() };
    },
  };
}

/** As much memory as its documentation advises for a machine of this kind. */
const POSTGRES = { shared_buffers: "512MB", max_wal_size: "2GB" };

function onPostgres(name: string, system: "pgBoss" | "graphileWorker"): Contender {
  return {
    name,
    async start() {
      const postgres = await startPostgres({ fsync: true, settings: POSTGRES });
      try {
        await (await loadSystem(system)).setUp?.(postgres.url);
      } catch (error) {
        await postgres.stop();
        throw error;
      }
      return { system, connect: postgres.url, pids: () => [postgres.pid], stop: () => postgres.stop() };
    },
  };
}

export const peers: readonly Contender[] = [
  bullmq("bullmqAlways", "always"),
  bullmq("bullmqEverysec", "everysec"),
  onPostgres("pgBoss", "pgBoss"),
  onPostgres("graphileWorker", "graphileWorker"),
];
