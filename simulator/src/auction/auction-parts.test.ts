import { Keys, type Commit } from "@keelson/kernel";
import { expect, test } from "vitest";
import { Streams } from "../chance/streams.ts";
import { R0, R1, Stage } from "../checkers/stage.ts";
import { Scheduler } from "../time/scheduler.ts";
import { Autoscaler, type AutoscalerPorts } from "./autoscaler.ts";
import { Catalogue, MIB } from "./catalogue.ts";
import { figure, table } from "./figure.ts";
import { IndexMemory } from "./index-memory.ts";
import { indexing } from "./indexing.ts";
import { Measures, quantile } from "./measures.ts";
import { DIALS, type Row } from "./sweep.ts";

const terms = { repositories: 500, medianMib: 40, sigma: 1.2, largestMib: 1_024, overestimate: 0.2 };

test("a catalogue is skewed, bounded, the same for a seed, and never estimated too small", () => {
  const one = new Catalogue(terms, new Streams(1));
  const shards = Array.from({ length: 500 }, (_, i) => String(i));
  const sizes = shards.map((shard) => one.actualBytes(shard));
  expect(sizes).toEqual(shards.map((shard) => new Catalogue(terms, new Streams(1)).actualBytes(shard)));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_024 * MIB);
  expect(Math.max(...sizes) / (one.totalBytes / 500)).toBeGreaterThan(5);
  expect(shards.every((shard) => one.estimatedBytes(shard) >= one.actualBytes(shard))).toBe(true);
});

test("memory counts what is being built against the truth, and only what is built against what a service tells", () => {
  const catalogue = new Catalogue({ ...terms, sigma: 0, medianMib: 100, overestimate: 0.5 }, new Streams(1));
  const told: string[] = [];
  const memory = new IndexMemory(
    catalogue,
    250 * MIB,
    (replica, what) => void told.push(`${replica} ${what}`),
  );
  memory.begin("kv/0/0");
  expect([memory.usedBytes / MIB, memory.freeBytes() / MIB]).toEqual([100, 250]);
  expect(memory.sizeOf("0")).toBeGreaterThan(100 * MIB);
  memory.finish("kv/0/0", "0");
  expect([memory.usedBytes / MIB, memory.freeBytes() / MIB]).toEqual([100, 150]);
  expect(memory.sizeOf("0")).toBe(100 * MIB);
  memory.free("kv/0/0");
  expect(memory.usedBytes).toBe(0);
  expect(told).toEqual(["kv/0/0 building", "kv/0/0 built", "kv/0/0 freed"]);
});

test("builds take as long as they are large, slow each other down, and give their memory back when cancelled", async () => {
  const scheduler = new Scheduler();
  const clock = {
    now: () => scheduler.now,
    wall: () => scheduler.now,
    after: (ms: number, run: () => void) => {
      const item = scheduler.after(ms, run);
      return { cancel: () => scheduler.cancel(item) };
    },
  };
  const catalogue = new Catalogue({ ...terms, sigma: 0, medianMib: 100, overestimate: 0 }, new Streams(1));
  const memory = new IndexMemory(catalogue, 9_000 * MIB, () => {});
  const inner = { prepare: () => Promise.resolve({ activate: () => Promise.reject(new Error("not here")) }) };
  const rates = { buildMibPerSecond: 50, nodeMibPerSecond: 100 };
  const service = indexing(inner, "kv", rates, { clock, catalogue, memory });
  const ends = new Map<string, number>();
  const abort = new AbortController();
  const build = (shard: string, signal: AbortSignal): void => {
    service.prepare!({ shard, replica: 0, signal, progress: () => {} }).then(
      () => ends.set(shard, scheduler.now),
      () => ends.set(`${shard} cancelled`, scheduler.now),
    );
  };
  build("0", new AbortController().signal);
  await scheduler.run(10_000);
  expect(ends.get("0")).toBeCloseTo(2_000);
  for (const shard of ["1", "2", "3", "4"])
    build(shard, shard === "4" ? abort.signal : new AbortController().signal);
  await scheduler.run(11_000);
  abort.abort();
  await scheduler.run(20_000);
  // Four at a time have 25 MiB/s each, three 33: all end between 2 and 4 s after they began.
  for (const shard of ["1", "2", "3"]) {
    expect(ends.get(shard)).toBeGreaterThan(12_500);
    expect(ends.get(shard)).toBeLessThan(14_000);
  }
  expect(ends.has("4 cancelled")).toBe(true);
  expect(memory.usedBytes / MIB).toBe(400);
});

test("the autoscaler raises maxBids before it starts a node, and lowers it after one has drained", async () => {
  const scheduler = new Scheduler();
  const keys = new Keys("sim");
  const store = new Map<string, string>();
  const said: string[] = [];
  const used = new Map<string, number>();
  const nodes = ["n1", "n2", "n3", "n4"].map((name) => ({ name }));
  const supervisor = {
    spare: [{ name: "n9" }],
    settledIn: nodes,
    startLater: (node: { name: string }) => void said.push(`start ${node.name}`),
    retire: (node: { name: string }, then: () => void) => {
      said.push(`retire ${node.name}`);
      then();
    },
  };
  const core = {
    incarnation: "i1",
    range: (key: string) => ({
      entries: store.has(key) ? [{ key, value: store.get(key)!, revision: 3 }] : [],
    }),
    commit: ({ writes: [write] }: Commit) => {
      if (write?.kind === "put") said.push(write.value);
    },
  };
  const ports = {
    scheduler,
    supervisor,
    store: { up: true, core, apply: (run: (of: typeof core) => unknown) => run(core) },
    keys,
    service: "kv",
    world: { usedBytes: (name: string) => used.get(name) ?? 10, budgetBytes: () => 100 },
  } as unknown as AutoscalerPorts;
  const autoscaler = new Autoscaler({ lookMs: 100, startMs: 5, coolMs: 1_000, drainBelow: 0.5 }, ports);
  store.set(keys.auction("kv", "config"), '{"v":1,"maxBids":4}');
  store.set(keys.auction("kv", "demand"), "{}");
  await scheduler.run(150);
  expect(said).toEqual(['{"v":1,"maxBids":5}', "start n9"]);
  store.delete(keys.auction("kv", "demand"));
  used.set("n3", 1);
  await scheduler.run(1_250);
  expect(said.slice(2)).toEqual(["retire n3", '{"v":1,"maxBids":3}']);
  expect([autoscaler.started, autoscaler.drained]).toEqual([1, 1]);
});

test("measures from when nobody serves to when somebody does, seconds without a living holder, and bytes built again", () => {
  const stage = new Stage();
  const measures = new Measures(stage.scene);
  stage.watch({ name: "measures", hears: measures.hears, on: (event) => measures.on(event) });
  stage.view(1, "a", "b");
  const second = (): void => {
    stage.nowMs += 1_000;
    stage.tell({ kind: "second" });
  };
  const built = {
    kind: "memory",
    node: "a",
    replica: R0,
    what: "built",
    bytes: 7,
    usedBytes: 7,
    budgetBytes: 9,
  } as const;
  second();
  stage.tenure(R0, "a");
  stage.tenure(R1, "b");
  stage.node("b").passes.add(R1);
  stage.tell(built);
  stage.node("a").passes.add(R0);
  stage.nowMs += 500;
  stage.decide("a", "live", R0);
  second();
  // Its process dies; the tenure stands for a while.
  stage.node("a").up = false;
  second();
  stage.remove(stage.keys.tenure(R0));
  second();
  stage.tenure(R0, "b");
  stage.tell(built);
  stage.nowMs += 500;
  stage.decide("b", "live", R0);
  expect(measures.measured).toEqual({
    readyMs: [500, 1_500, 1_500],
    unclaimedSeconds: 4,
    rebuiltBytes: 7,
    meanNodes: 2.5,
  });
  expect([quantile([1, 2, 3, 4], 0.5), quantile([1, 2, 3, 4], 0.99), quantile([], 0.5)]).toEqual([3, 4, 0]);
});

test("the report shows every row, as text and as a figure that is whole", () => {
  const rows: Row[] = DIALS.flatMap(({ name, values }) =>
    values.map((value) => ({
      dial: name,
      value,
      readyP50Ms: 1_000 * value,
      readyP99Ms: 9_000,
      unclaimedSeconds: 5,
      rebuiltGib: 0,
      meanNodes: 12,
      violations: 0,
    })),
  );
  expect(table(rows).trimEnd().split("\n")).toHaveLength(rows.length + 1);
  const svg = figure(rows, "a < b & c");
  expect(svg).toContain("a &lt; b &amp; c");
  expect(svg.match(/<circle/g)).toHaveLength(rows.length * 5);
  expect(svg).not.toContain("NaN");
});
