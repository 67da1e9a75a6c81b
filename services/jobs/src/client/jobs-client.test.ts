import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FolderObjects, ScopedObjects, type Objects } from "@keelson/objects";
import { FleetClient, NodeServices } from "@keelson/runtime";
import { TestFleet } from "@keelson/testkit";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JobCancelled, JobFailed } from "./errors.ts";
import type { JobHandle } from "./job-handle.ts";
import { JobsClient } from "./jobs-client.ts";
import { jobsPlugin } from "../plugin.ts";
import type { JobStopped } from "../worker/running-job.ts";

let fleet: TestFleet;
let access: FleetClient;
let client: JobsClient;
let objects: Objects;
let folder: string;
const services: NodeServices[] = [];

async function addNode(name: string): Promise<void> {
  const opened = await NodeServices.open({
    plugins: [jobsPlugin],
    fleet: "test",
    node: name,
    address: name,
    zone: "",
    config: { jobs: { shards: 4, leaseMs: 1_000 } },
    objects: (service) => new ScopedObjects(objects, `${service}/`),
    log: pino({ level: "silent" }),
    clock: fleet.clock,
    random: Math.random,
  });
  services.push(opened);
  opened.bind(access);
  await fleet.add(name, { services: opened.services });
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-jobs-"));
  fleet = new TestFleet({ services: [] });
  objects = await FolderObjects.open({ folder, clock: fleet.clock, random: Math.random });
  const { clock, store } = fleet;
  access = new FleetClient({
    fleet: "test",
    store: store.connect(),
    transport: fleet,
    clock,
    random: Math.random,
  });
  access.start();
  await addNode("a");
  await addNode("b");
  await fleet.until(
    () =>
      access.shards("jobs").ids.length === 4 &&
      access.shards("jobs").ids.every((id) => fleet.holders(`jobs/${id}/0`).length === 1),
    10_000,
    () => "not all shards are held",
  );
  client = new JobsClient({ access });
});

afterEach(async () => {
  await client.close({ graceMs: 100 });
  access.stop();
  await fleet.stop();
  await Promise.all(services.splice(0).map((each) => each.stop()));
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

describe("a client and a worker", () => {
  test("a job's result comes by itself", async () => {
    client.worker<{ a: number; b: number }, number>("sum", ({ payload }) => payload.a + payload.b);
    const job = await client.enqueue<number>({ group: "sum", payload: { a: 2, b: 3 } });
    expect(job.outcome).toBe("created");
    expect(await job.result()).toBe(5);
    expect(await client.get(job.id)).toMatchObject({ status: "succeeded", attempts: [{ number: 1 }] });
  });

  test("many jobs of many tenants all run, once each", async () => {
    const seen = new Map<string, number>();
    client.worker("count", ({ id }) => void seen.set(id, (seen.get(id) ?? 0) + 1), {
      concurrency: 20,
      leaseMs: 20_000,
    });
    const jobs = Array.from({ length: 500 }, (_, index) => ({
      group: "count",
      tenant: `t${index % 25}`,
      payload: index,
    }));
    const handles = await client.enqueueBatch(jobs);
    await Promise.all(
      handles.map((handle) => (handle instanceof Error ? Promise.reject(handle) : handle.result())),
    );
    expect(seen.size).toBe(500);
    expect([...seen.values()].every((count) => count === 1)).toBe(true);
  });

  test("the same id with the same content is the same job, with other content a conflict", async () => {
    const job = { group: "g", id: "x", payload: 1 };
    expect((await client.enqueue(job)).outcome).toBe("created");
    expect((await client.enqueue(job)).outcome).toBe("same");
    await expect(client.enqueue({ ...job, payload: 2 })).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("what a handler throws is the job's failure, after its retries", async () => {
    let tries = 0;
    client.worker("fail", () => {
      tries += 1;
      throw Object.assign(new Error("no luck"), { code: "LUCK" });
    });
    const retry = { retries: 2, initialMs: 1, maxMs: 5, factor: 2, jitter: false };
    const job = await client.enqueue({ group: "fail", retry });
    const failure = await job.result().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(JobFailed);
    expect(failure).toMatchObject({ code: "LUCK", data: { message: "no luck" } });
    expect(tries).toBe(3);
  });

  test("a cancelled job's handler hears of it", async () => {
    let began: () => void = () => undefined;
    const running = new Promise<void>((resolve) => {
      began = resolve;
    });
    let code = "";
    client.worker("slow", async ({ signal }) => {
      began();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      code = (signal.reason as JobStopped).code;
      throw signal.reason;
    });
    const job = await client.enqueue({ group: "slow" });
    await running;
    await client.cancel(job.id);
    await expect(job.result()).rejects.toBeInstanceOf(JobCancelled);
    expect(code).toBe("CANCELLED");
  });

  test("progress and changes of status are events", async () => {
    const events: string[] = [];
    const following = (async () => {
      for await (const event of client.events({ group: "told" })) {
        events.push(
          event.kind === "status"
            ? event.status
            : event.kind === "progress"
              ? String(event.progress)
              : "missed",
        );
        if (events.includes("succeeded")) return;
      }
    })();
    client.worker("told", async (job) => {
      job.progress("half");
      await new Promise((resolve) => setTimeout(resolve, 50));
    });
    // Events count from when the stream is open.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await client.enqueue({ group: "told" });
    await following;
    expect(events).toEqual(["scheduled", "running", "half", "succeeded"]);
  });

  test("a flow's last job gets the results of those before it", async () => {
    client.worker(
      "flow",
      ({ payload, inputs }) =>
        payload === "sum" ? inputs.reduce((sum, { result }) => sum + Number(result), 0) : payload,
      { concurrency: 5 },
    );
    await client.enqueue({ group: "flow", id: "a", payload: 3 });
    await client.enqueue({ group: "flow", id: "b", payload: 4 });
    const last = await client.enqueue({ group: "flow", payload: "sum", after: ["a", "b"] });
    expect(await last.result()).toBe(7);
  });

  test("a job survives the loss of its node, and runs", async () => {
    const jobs = await client.enqueueBatch(
      Array.from({ length: 40 }, (_, index) => ({ group: "later", tenant: `t${index}`, payload: index })),
    );
    fleet.kill("a");
    client.worker("later", ({ payload }) => payload, { concurrency: 10 });
    const results = await Promise.all(
      jobs.map((job) => (job instanceof Error ? Promise.reject(job) : job.result())),
    );
    expect(results).toEqual(Array.from({ length: 40 }, (_, index) => index));
  }, 30_000);

  test("a job survives the loss of every node", async () => {
    await client.enqueue({ group: "later", id: "kept", payload: "still here" });
    fleet.kill("a");
    fleet.kill("b");
    await addNode("c");
    client.worker("later", ({ payload }) => payload);
    expect(await client.job("kept").result()).toBe("still here");
  }, 30_000);

  test("a shard is split under load, and nothing is lost or runs twice", async () => {
    const seen = new Map<string, number>();
    client.worker(
      "load",
      async ({ id }) => {
        seen.set(id, (seen.get(id) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        return id;
      },
      // A lease that a busy machine lets run out would rightly run its job again.
      { concurrency: 20, leaseMs: 20_000 },
    );
    await client.enqueue({
      group: "later",
      tenant: "t1",
      id: "waits",
      payload: 1,
      startAtMs: Date.now() + 3_600_000,
    });
    const handles: JobHandle<string>[] = [];
    let producing = true;
    const produce = async (lane: number): Promise<void> => {
      for (let count = 0; producing; count += 1)
        handles.push(
          await client.enqueue({ group: "load", tenant: `t${(count + lane) % 30}`, id: `${lane}-${count}` }),
        );
    };
    const lanes = Promise.all([0, 1, 2].map(produce));
    // Awaited below; until then nobody else would listen.
    lanes.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = handles.length;
    const split = await client.calls.byShard(
      "1",
      "write",
      "split",
      {},
      { timeoutMs: 20_000, idempotent: false },
    );
    expect(split).toEqual({
      left: "4000000000000000-5fffffffffffffff",
      right: "6000000000000000-7fffffffffffffff",
    });
    await fleet.until(
      () => access.shards("jobs").ids.length === 5,
      10_000,
      () => "the halves are not listed",
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    producing = false;
    await lanes;
    expect(handles.length).toBeGreaterThan(before);
    expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(handles.map(({ id }) => id));
    expect([...seen.values()].filter((count) => count !== 1)).toEqual([]);
    expect(await client.get("waits", "t1")).toMatchObject({ status: "scheduled" });
  }, 60_000);
});
