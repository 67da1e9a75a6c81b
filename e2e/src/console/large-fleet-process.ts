/**
 * A program: a gateway that knows a fleet of 1,000 nodes and 100,000 shards, of which some move all the time. Gateway, admin and feed are the real ones; the
 * nodes are keys in a memory store, written here as nodes would write them. Over IPC it says where it is, and obeys "move" and "rest".
 */
import { startGateway } from "@keelson/gateway";
import {
  Keys,
  terms,
  type Contender,
  type Member,
  type Tenure,
  type View,
  type Write,
} from "@keelson/kernel";
import { LocalAdmin, SystemClock, fleetApi, fleetMirror, systemRandom } from "@keelson/runtime";
import { MemoryStore } from "@keelson/stores/memory";
import { pino } from "pino";

export interface LargeFleetSaid {
  readonly url: string;
}

const NODES = 1_000;
const SHARDS = 100_000;
/** Moves that begin in each step, and how often there is one: 400 hand-overs a second. */
const MOVES = 100;
const STEP_MS = 250;
const COMMIT_MAX = 100;

const fleet = "large";
const service = "synthetic";
const keys = new Keys(fleet);
const clock = new SystemClock();
const store = new MemoryStore({ clock, random: systemRandom });
const { incarnation } = await store.range(keys.prefix, { limit: 1, timeoutMs: 5_000 });

const nameOf = (node: number): string => `node-${String(node).padStart(4, "0")}`;
const holders = Int32Array.from({ length: SHARDS }, (_, shard) => shard % NODES);

function member(node: number): Member {
  const name = nameOf(node);
  return {
    v: 1,
    node: name,
    boot: "b",
    address: `10.0.${node >> 8}.${node & 255}:7700`,
    zone: `zone-${node % 3}`,
    labels: {},
    capabilities: [],
    version: "0.1.0",
    protocol: { min: 1, max: 1 },
    capacity: 1,
    startedAt: clock.wall() - node * 1_000,
    services: [service],
    liveness: name,
    membership: name,
  };
}

function tenure(shard: number, from?: number): Write {
  const name = nameOf(holders[shard]!);
  const value: Tenure = {
    v: 1,
    node: name,
    boot: "b",
    session: name,
    era: 1,
    address: "",
    how: from === undefined ? "grant" : "hand-over",
    reason: "written by a test",
    since: clock.wall(),
    ...(from === undefined ? {} : { from: nameOf(from) }),
  };
  return { kind: "put", key: keys.tenure(`${service}/${shard}/0`), value: JSON.stringify(value) };
}

async function write(writes: readonly Write[]): Promise<void> {
  for (let at = 0; at < writes.length; at += COMMIT_MAX) {
    const commit = { guards: [], writes: writes.slice(at, at + COMMIT_MAX) };
    const outcome = await store.commit(commit, { incarnation, timeoutMs: 30_000 });
    if (outcome.kind !== "committed") throw new Error(`the store says ${outcome.kind}`);
  }
}

const put = (key: string, value: unknown): Write => ({ kind: "put", key, value: JSON.stringify(value) });
const view: View = {
  v: 1,
  n: 1,
  members: Array.from({ length: NODES }, (_, node) => ({ node: nameOf(node), zone: "", weight: 1 })),
  parameters: { shards: SHARDS, replicas: 1, placement: {} },
  // Nobody here knows it, so nothing is planned: what moves, moves because this program says so.
  algorithm: "by-hand/1",
  reason: "written by a test",
};
await write([
  put(keys.era, { v: 1, era: 1, incarnation, phase: "open", by: nameOf(0), ttlMsMax: 10_000 }),
  put(keys.manager, { v: 1, node: nameOf(0), since: clock.wall() }),
  put(keys.view(service), view),
  ...Array.from({ length: NODES }, (_, node) => put(keys.member(nameOf(node)), member(node))),
]);
await write(Array.from({ length: SHARDS }, (_, shard) => tenure(shard)));

/** Some get ready, and those that were ready a step ago take over. */
let ready: { readonly shard: number; readonly to: number }[] = [];
async function step(): Promise<void> {
  const arrived = ready;
  ready = Array.from({ length: MOVES }, () => ({
    shard: Math.floor(Math.random() * SHARDS),
    to: Math.floor(Math.random() * NODES),
  }));
  const contender: Contender = { v: 1, phase: "ready", progress: 1, boot: "b", session: "s", address: "" };
  const contenderKey = (shard: number, to: number): string =>
    keys.contender(`${service}/${shard}/0`, nameOf(to));
  const writes = new Map<string, Write>();
  for (const { shard, to } of arrived) {
    const from = holders[shard]!;
    holders[shard] = to;
    const key = contenderKey(shard, to);
    writes.set(key, { kind: "delete", key });
    writes.set(`tenure ${shard}`, tenure(shard, from));
  }
  for (const { shard, to } of ready) {
    const key = contenderKey(shard, to);
    writes.set(key, put(key, contender));
  }
  await write([...writes.values()]);
}

const own = store.connect();
const mirror = fleetMirror(fleet, { store: own, clock, random: systemRandom }, terms());
const admin = new LocalAdmin({ fleet, mirror, store: own, clock, random: systemRandom });
mirror.start();
const gateway = await startGateway({
  fleet,
  plugins: [],
  apis: [fleetApi(admin)],
  listen: { host: "127.0.0.1", port: 0 },
  store: store.connect(),
  clock,
  random: systemRandom,
  log: pino({ level: "silent" }),
});
await gateway.ready(60_000);

let timer: ReturnType<typeof setInterval> | undefined;
let stepping = false;
process.on("message", (said) => {
  clearInterval(timer);
  if (said !== "move") return;
  timer = setInterval(() => {
    if (stepping) return;
    stepping = true;
    step()
      .finally(() => {
        stepping = false;
      })
      .catch((error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        process.exit(1);
      });
  }, STEP_MS);
});
process.on("disconnect", () => process.exit(0));
process.send?.({ url: gateway.url } satisfies LargeFleetSaid);
