/**
 * What routing and placement cost: finding a holder, a call through the router with a transport that answers at once, and computing a plan. All of it is
 * memory and arithmetic, nothing is sent anywhere; so it is measured in CPU time, which holds on a busy machine where wall-clock time does not.
 */
import { parseArgs } from "node:util";
import {
  Keys,
  RouteTable,
  ring,
  type NodeReply,
  type Tenure,
  type Transport,
  type View,
} from "@keelson/kernel";
import { Router, SystemClock, systemRandom } from "@keelson/runtime";
import type { Bench, BenchContext } from "./bench.ts";
import { median } from "./median.ts";
import { wholeNumber } from "./options.ts";

/** Distinct requests, each asked for ten times a round. */
const LOOKUPS = 200_000;
const PASSES = 10;
const CALLS = 100_000;
const keys = new Keys("bench");

const routing: Bench = {
  name: "routing",
  title: "finding a shard's holder, a call through the router, and computing ring plans",
  async run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: { shards: { type: "string", default: "100000" }, rounds: { type: "string", default: "9" } },
    });
    const shards = wholeNumber("shards", values.shards);
    const rounds = wholeNumber("rounds", values.rounds);
    context.progress(`filling a table with ${shards} shards`);
    const table = filled(shards);
    const figures = {
      shards,
      ...lookups(context, table, shards, rounds),
      callNs: await calls(context, table, shards, rounds),
      /** 200 shards on 5 nodes, and all shards on 1,000. */
      planSmallMs: plans(context, 200, 5, 3 * rounds),
      planLargeMs: plans(context, shards, 1_000, Math.min(3, rounds)),
    };
    return { figures, peers: {} };
  },
};

export default routing;

function filled(shards: number): RouteTable {
  const table = new RouteTable();
  for (let shard = 0; shard < shards; shard++) {
    const key = keys.parse(keys.tenure(`jobs/${shard}/0`));
    if (key) table.put(key, tenure(`node-${shard % 1_000}`), shard + 1);
  }
  return table;
}

/** Finding the route alone, and finding it and reading the address: on a large table the second is mostly a wait for memory. */
function lookups(
  context: BenchContext,
  table: RouteTable,
  shards: number,
  rounds: number,
): { lookupNs: number; lookupAndReadNs: number } {
  const asked = randomShards(shards, LOOKUPS);
  const count = LOOKUPS * PASSES;
  const timed = (what: string, pass: () => number): number =>
    medianOf(rounds, (round) => {
      const started = cpuNs();
      let found = 0;
      for (let i = 0; i < PASSES; i++) found += pass();
      const ns = (cpuNs() - started) / count;
      if (found !== count) throw new Error(`${count - found} lookups found no holder`);
      context.progress(`round ${round} of ${rounds}: ${ns.toFixed(1)} ns ${what}`);
      return ns;
    });
  return {
    lookupNs: timed("a lookup", () => {
      let found = 0;
      for (const shard of asked) if (table.lookup("jobs", shard) !== undefined) found += 1;
      return found;
    }),
    lookupAndReadNs: timed("a lookup whose address is read", () => {
      let found = 0;
      for (const shard of asked) if ((table.lookup("jobs", shard)?.address.length ?? 0) > 0) found += 1;
      return found;
    }),
  };
}

async function calls(
  context: BenchContext,
  table: RouteTable,
  shards: number,
  rounds: number,
): Promise<number> {
  const reply: NodeReply = { kind: "ok", epoch: { era: 2, revision: 1 }, body: null };
  const transport: Transport = { call: () => Promise.resolve(reply) };
  const router = new Router({ table, transport, clock: new SystemClock(), random: systemRandom });
  const asked = randomShards(shards, CALLS);
  const measured: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const started = cpuNs();
    for (const shard of asked)
      await router.call({
        service: "jobs",
        shard,
        method: "get",
        mode: "read",
        body: null,
        timeoutMs: 1_000,
      });
    measured.push((cpuNs() - started) / asked.length);
    context.progress(`round ${round} of ${rounds}: ${measured.at(-1)?.toFixed(0)} ns a call`);
  }
  return median(measured);
}

function plans(context: BenchContext, shards: number, nodes: number, rounds: number): number {
  const view: View = {
    v: 1,
    n: 1,
    members: Array.from({ length: nodes }, (_, i) => ({
      node: `node-${i}`,
      zone: `zone-${i % 3}`,
      weight: 1,
    })),
    parameters: { shards, replicas: 1, placement: {} },
    algorithm: "ring/1",
    reason: "bench",
  };
  const placement = ring({ service: "jobs" });
  return medianOf(rounds, (round) => {
    const started = cpuNs();
    placement.plan(view);
    const ms = (cpuNs() - started) / 1e6;
    context.progress(
      `round ${round} of ${rounds}: ${ms.toFixed(1)} ms to place ${shards} shards on ${nodes} nodes`,
    );
    return ms;
  });
}

/** Strings of their own, as a request brings them: not the table's, whose hashes are already known. */
function randomShards(shards: number, length: number): string[] {
  return Array.from({ length }, () => String(Math.floor(systemRandom() * shards)));
}

function tenure(node: string): Tenure {
  return {
    v: 1,
    node,
    boot: "boot",
    session: `session-of-${node}`,
    era: 1,
    address: `${node}:7000`,
    how: "grant",
    reason: "bench",
    since: 0,
  };
}

function cpuNs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1_000;
}

function medianOf(rounds: number, run: (round: number) => number): number {
  return median(Array.from({ length: rounds }, (_, round) => run(round + 1)));
}
