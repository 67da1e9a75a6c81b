import type { Shard } from "@keelson/kernel";
import { FleetClient, auction, type KeelsonNode } from "@keelson/runtime";
import { TestFleet } from "@keelson/testkit";
import { afterEach, expect, test, vi } from "vitest";
import { addsMax, RepositoryCatalogue } from "./catalogue.ts";
import { pageOf } from "./repository-page.ts";
import type { Repository } from "./repository.ts";

vi.setConfig({ testTimeout: 120_000 });

const MANY = 20_000;
let fleet: TestFleet | undefined;
let client: FleetClient | undefined;
afterEach(async () => {
  client?.stop();
  await fleet?.stop();
});

const row = (i: number): Omit<Repository, "id" | "v"> => ({
  name: `host/owner/repository-${i}`,
  url: `https://host/owner/repository-${i}`,
  branches: [],
  archived: false,
  fork: false,
  public: true,
  metadata: {},
  rank: 0,
  pinned: false,
  state: "active",
  reason: "added",
  wantedAt: 0,
  addedAt: 0,
});

/** A node that lists repositories and takes none: this is about the list. */
async function listing(): Promise<{ node: KeelsonNode; catalogue: RepositoryCatalogue }> {
  fleet = new TestFleet({ services: [], terms: { ttlMs: 60_000 } });
  const shard: Shard = { handle: () => Promise.resolve(null) };
  const service = {
    name: "code",
    catalogued: true,
    // No auction begins for a while.
    parameters: { shards: 1, shardIds: ["catalogue"], replicas: 1, placement: { graceMs: 600_000 } },
    placement: auction({ service: "code" }),
    memory: { budgetBytes: 1, freeBytes: () => 0, sizeOf: () => 1 },
    open: () => Promise.resolve(shard),
  };
  const node = await fleet.add("a", { services: [service] });
  return { node, catalogue: new RepositoryCatalogue(node.catalogue("code"), { replicas: 1, zones: [] }) };
}

test("twenty thousand repositories stand in one list that all follow, and some can rest", async () => {
  const { catalogue } = await listing();
  const { clock, store } = fleet!;
  client = new FleetClient({
    fleet: "test",
    clock,
    random: Math.random,
    transport: fleet!,
    store: store.connect(),
  });
  client.start();
  for (let at = 0; at < MANY; at += addsMax)
    await catalogue.add(Array.from({ length: Math.min(addsMax, MANY - at) }, (_, i) => row(at + i)));
  expect(catalogue.all()).toHaveLength(MANY);
  const listed = (): number => client!.shards("code").ids.length;
  await fleet!.until(
    () => listed() === MANY + 1,
    60_000,
    () => `the view lists ${listed()}`,
  );
  expect(client.shards("code").ids.slice(0, 3)).toEqual(["catalogue", "1", "2"]);
  const resting = Array.from({ length: 10 }, (_, i) => 1_000 * (i + 1));
  await catalogue.edit(resting, (each) => ({ ...each, state: "resting" }));
  await fleet!.until(
    () => listed() === MANY + 1 - resting.length,
    60_000,
    () => `the view lists ${listed()} with ten at rest`,
  );
  expect(client.shards("code").has("1000")).toBe(false);
  expect(pageOf(catalogue.all(), { after: 19_998 }).rows.map(({ id }) => id)).toEqual([19_999, 20_000]);
  expect(catalogue.byName("host/owner/repository-12345")?.id).toBe(12_346);
});

test("a name that is taken adds nothing of its batch", async () => {
  const { catalogue } = await listing();
  await catalogue.add([row(1)]);
  await expect(catalogue.add([row(2), row(1)])).rejects.toMatchObject({ code: "NAME_TAKEN" });
  expect(catalogue.all().map(({ name }) => name)).toEqual([row(1).name]);
});

test("what a repository was found to need is told with what it needs beside what it has, and goes when other branches are wanted", async () => {
  const { catalogue } = await listing();
  const { clock } = fleet!;
  const [added] = await catalogue.add([row(1)]);
  const { id } = added!;
  const until = async (done: () => boolean): Promise<void> => {
    const deadline = clock.now() + 10_000;
    while (!done() && clock.now() < deadline)
      await new Promise<void>((resolve) => void clock.after(5, resolve));
    expect(done()).toBe(true);
  };
  await catalogue.foundSize(id, 100);
  await until(() => catalogue.foundSizeOf(id) !== undefined);
  expect(catalogue.foundSizeOf(id)).toEqual({ v: 1, bytes: 100 });
  await catalogue.foundSize(id, 170, 80);
  await until(() => catalogue.foundSizeOf(id)?.bytes === 90);
  expect([catalogue.foundSizeOf(id)?.besideBytes, catalogue.sizeOf(id)]).toEqual([170, 90]);
  await catalogue.edit([id], (was) => ({ ...was, rank: 7 }));
  await until(() => catalogue.get(id)?.rank === 7);
  expect(catalogue.foundSizeOf(id)?.bytes).toBe(90);
  await catalogue.edit([id], (was) => ({ ...was, branches: ["stable"] }));
  await until(() => catalogue.foundSizeOf(id) === undefined);
});
