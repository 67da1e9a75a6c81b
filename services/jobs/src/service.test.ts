import { mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FolderObjects, ScopedObjects } from "@keelson/objects";
import { FleetClient, NodeServices } from "@keelson/runtime";
import { TestFleet } from "@keelson/testkit";
import { pino } from "pino";
import { expect, test } from "vitest";
import { jobsPlugin } from "./plugin.ts";

const SHARDS = ["0", "1", "2", "3"];
/** Somewhere in the first batch, behind the head of the file. */
const DAMAGED_AT_BYTES = 104;

/** Makes a batch unreadable that others follow: it is not the end that a killed writer leaves. */
async function damage(folder: string): Promise<void> {
  const [segment] = (await readdir(folder)).filter((name) => name.startsWith("segment-"));
  const file = await open(join(folder, segment!), "r+");
  await file.write(Buffer.alloc(8, 0xff), 0, 8, DAMAGED_AT_BYTES);
  await file.close();
}

test("a journal that is damaged ends only the shards that need it: who can write its own keeps what it has", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keelson-jobs-"));
  const failed: string[] = [];
  const fleet = new TestFleet({
    services: [],
    onDecision: ({ kind, reason }) => {
      if (kind === "failed") failed.push(reason);
    },
  });
  const { clock, store } = fleet;
  const objects = await FolderObjects.open({ folder, clock, random: Math.random });
  const access = new FleetClient({
    fleet: "test",
    store: store.connect(),
    transport: fleet,
    clock,
    random: Math.random,
  });
  access.start();
  const services: NodeServices[] = [];
  const add = async (name: string): Promise<void> => {
    const opened = await NodeServices.open({
      plugins: [jobsPlugin],
      fleet: "test",
      node: name,
      address: name,
      zone: "",
      config: { jobs: { shards: SHARDS.length, leaseMs: 1_000 } },
      objects: (service) => new ScopedObjects(objects, `${service}/`),
      log: pino({ level: "silent" }),
      clock,
      random: Math.random,
    });
    services.push(opened);
    opened.bind(access);
    await fleet.add(name, { services: opened.services });
  };
  try {
    await add("a");
    await add("b");
    const heldBy = (node: string): string[] =>
      SHARDS.filter((id) => fleet.holders(`jobs/${id}/0`).includes(node));
    await fleet.until(
      () => heldBy("a").length > 0 && heldBy("a").length + heldBy("b").length === SHARDS.length,
      30_000,
      () => `held: ${heldBy("a").join()} and ${heldBy("b").join()}`,
    );
    const kept = heldBy("b");
    fleet.kill("a");
    await damage(join(folder, ".journal/jobs/node/a.journal"));
    await fleet.until(
      () => failed.filter((reason) => reason.includes("is damaged")).length > 1,
      60_000,
      () => `what needs the journal was not tried twice: ${failed.join("\n")}`,
    );
    expect(failed.filter((reason) => reason.includes("given up"))).toEqual([]);
    expect(kept.filter((shard) => !heldBy("b").includes(shard))).toEqual([]);
  } finally {
    access.stop();
    await fleet.stop();
    await Promise.all(services.map((each) => each.stop()));
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}, 120_000);
