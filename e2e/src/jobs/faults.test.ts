/**
 * Real nodes are killed while producers and workers go on: nothing that was acknowledged is lost, nothing runs twice at once, and limits hold. Workers live in this
 * process, so what it sees of them is exact; the nodes are processes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectJobs, type JobsClient, type RunningJob } from "@keelson/jobs";
import { startEtcd } from "@keelson/testkit/servers";
import { afterEach, describe, expect, test } from "vitest";
import { stopAll } from "../process/keelson-process.ts";
import { startStore } from "../process/store-process.ts";
import { JobsProcesses } from "./jobs-processes.ts";

const TENANTS = 12;
const LIMIT = 2;

/** Each gives a store and how to end it. */
const STORES: Readonly<Record<string, () => Promise<{ url: string; stop(): Promise<void> }>>> = {
  embedded: async () => {
    const folder = mkdtempSync(join(tmpdir(), "keelson-e2e-store-"));
    const { url } = await startStore(folder);
    return {
      url,
      stop: () => {
        rmSync(folder, { recursive: true, force: true });
        return Promise.resolve();
      },
    };
  },
  etcd: async () => {
    const etcd = await startEtcd({ electionMs: 100 });
    return { url: `etcd://127.0.0.1:${etcd.port}`, stop: () => etcd.stop() };
  },
};

/** What the workers saw. */
class Witness {
  readonly completed = new Map<string, number>();
  readonly #now = new Map<string, string>();
  readonly #limited = new Map<string, number>();
  readonly broken: string[] = [];

  /** A handler that takes a moment, so that two at once would be seen. */
  readonly handler = async (job: RunningJob): Promise<string> => {
    const name = `${job.tenant}/${job.id}`;
    if (this.#now.has(name)) this.broken.push(`${name} runs twice at once`);
    this.#now.set(name, name);
    const held = (this.#limited.get(job.tenant) ?? 0) + 1;
    this.#limited.set(job.tenant, held);
    if (held > LIMIT) this.broken.push(`${held} jobs of ${job.tenant} run at once`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.#limited.set(job.tenant, (this.#limited.get(job.tenant) ?? 1) - 1);
    this.#now.delete(name);
    this.completed.set(name, (this.completed.get(name) ?? 0) + 1);
    return name;
  };
}

let fleet: JobsProcesses | undefined;
let store: { stop(): Promise<void> } | undefined;
const clients: JobsClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close({ graceMs: 0 })));
  await fleet?.stop();
  await stopAll();
  await store?.stop();
});

async function connect(nodes: Iterable<string>): Promise<JobsClient> {
  const client = await connectJobs({ nodes: [...nodes], timeoutMs: 90_000, connectTimeoutMs: 60_000 });
  clients.push(client);
  return client;
}

describe.each(Object.keys(STORES))("on %s", (name) => {
  test("nothing that was acknowledged is lost when one node and then all are killed under load", async () => {
    const opened = await STORES[name]!();
    store = opened;
    const processes = new JobsProcesses(opened.url);
    fleet = processes;
    await Promise.all(["a", "b", "c"].map((each) => processes.start(each)));
    const producer = await connect(processes.addresses.values());
    const witness = new Witness();
    for (let index = 0; index < 2; index += 1)
      (await connect(processes.addresses.values())).worker("work", witness.handler, { concurrency: 20 });

    const acknowledged: { tenant: string; id: string }[] = [];
    let producing = true;
    const produce = async (lane: number): Promise<void> => {
      for (let count = 0; producing; count += 1) {
        const tenant = `t${(count + lane) % TENANTS}`;
        const limits = [{ kind: "concurrency", key: "k", max: LIMIT }] as const;
        // An enqueue whose answer is lost is repeated by the client under the same id.
        const job = await producer.enqueue({
          group: "work",
          tenant,
          id: `${lane}-${count}`,
          limits,
          payload: count,
        });
        acknowledged.push({ tenant, id: job.id });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const lanes = [0, 1, 2, 3].map(produce);
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    await pause(1_500);
    await processes.kill("a");
    await pause(1_500);
    await processes.start("a");
    await pause(500);
    await Promise.all([...processes.running.keys()].map((each) => processes.kill(each)));
    await Promise.all(["a", "b", "c"].map((each) => processes.start(each)));
    await pause(1_000);
    producing = false;
    await Promise.all(lanes);

    expect(acknowledged.length).toBeGreaterThan(50);
    const results = await Promise.all(
      acknowledged.map(({ tenant, id }) => producer.job(id, tenant).result()),
    );
    expect(results).toEqual(acknowledged.map(({ tenant, id }) => `${tenant}/${id}`));
    expect(witness.broken).toEqual([]);
  }, 240_000);
});

test("a flow and a debounced trigger survive the loss of every node", async () => {
  const opened = await STORES["embedded"]!();
  store = opened;
  const processes = new JobsProcesses(opened.url);
  fleet = processes;
  await processes.start("a");
  const client = await connect(processes.addresses.values());
  await client.enqueue({ group: "flow", id: "one", payload: 1 });
  await client.enqueue({ group: "flow", id: "two", payload: 2 });
  await client.enqueue({ group: "flow", id: "sum", payload: "sum", after: ["one", "two"] });
  const dedupe = { key: "page", mode: "debounce", waitMs: 3_000, maxWaitMs: 60_000 } as const;
  await client.enqueue({ group: "flow", id: "draft-1", payload: "first", dedupe });
  const last = await client.enqueue({ group: "flow", id: "draft-2", payload: "last", dedupe });
  expect(last.outcome).toBe("joined");
  await processes.kill("a");
  await processes.start("a");
  client.worker("flow", ({ payload, inputs }) =>
    payload === "sum" ? inputs.reduce((sum, { result }) => sum + Number(result), 0) : payload,
  );
  expect(await client.job("sum").result()).toBe(3);
  expect(await client.job(last.id).result()).toBe("last");
}, 240_000);
