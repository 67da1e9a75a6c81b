/**
 * Several fleets on one server, as one asks for in a company: each has its name, and on Redis all keys are in one database, on Postgres in one schema. What one does, and its
 * end, is nothing to the others.
 */
import { ring, type Shard, type Store } from "@keelson/kernel";
import { KeelsonNode, ServerTimeEras, SystemClock, defineService, systemRandom } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import { startEtcd, startPostgres, startRedis, type TestServer } from "@keelson/testkit/servers";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../code/eventually.ts";

const SHARDS = 8;
const WITHIN_MS = 30_000;
const clock = new SystemClock();
let server: TestServer | undefined;
const nodes: KeelsonNode[] = [];
const stores: Store[] = [];

afterEach(async () => {
  for (const node of nodes.splice(0)) node.abandon();
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await server?.stop();
});

async function start(url: string, fleet: string, node: string): Promise<KeelsonNode> {
  const store = await openStore(url, { clock, random: systemRandom });
  stores.push(store);
  const echo = defineService({
    name: "echo",
    parameters: { shards: SHARDS, replicas: 1, placement: {} },
    placement: ring({ service: "echo" }),
    open: (): Promise<Shard> => Promise.resolve({ handle: () => Promise.resolve(fleet) }),
  });
  const started = new KeelsonNode(
    { fleet, node, address: node, services: [echo], terms: { ttlMs: 2_000 } },
    {
      store,
      clock,
      random: systemRandom,
      transport: { call: () => Promise.reject(new Error("nobody is asked")) },
      eras: new ServerTimeEras(),
    },
  );
  nodes.push(started);
  await started.start();
  return started;
}

/** Its tenures with their revisions: one that was granted anew has another. */
const tenures = (node: KeelsonNode): [key: string, revision: number][] =>
  [...node.mirror.image.entries()].flatMap(({ key, revision }) =>
    key.includes("/tenure/") ? [[key, revision]] : [],
  );

const held = (node: KeelsonNode): number => [...node.held()].length;

test.each([
  ["etcd", () => startEtcd({ electionMs: 100 }), (at: TestServer) => `etcd://127.0.0.1:${at.port}`],
  ["redis", () => startRedis(), (at: TestServer) => at.url],
  ["postgres", () => startPostgres(), (at: TestServer) => at.url],
])(
  "on one %s two fleets hold their own shards, with nodes of the same name, and one outlives the other",
  async (_, begin, urlOf) => {
    server = await begin();
    const url = urlOf(server);
    const [one, two] = await Promise.all([start(url, "one", "a"), start(url, "two", "a")]);
    await eventually("both hold all of theirs", () => held(one) + held(two) === 2 * SHARDS, WITHIN_MS);
    const before = tenures(two);
    await one.leave();
    expect(held(one)).toBe(0);
    expect(held(two)).toBe(SHARDS);
    expect(tenures(two)).toEqual(before);
    // A prefix is no fleet: what is called alike stays apart.
    const longer = await start(url, "two-2", "b");
    await eventually("the third holds its own", () => held(longer) === SHARDS, WITHIN_MS);
    expect([...two.mirror.image.entries()].every(({ key }) => key.startsWith("/keelson/two/"))).toBe(true);
  },
  90_000,
);
