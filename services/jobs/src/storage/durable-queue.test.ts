import { MemoryObjects } from "@keelson/objects";
import { ManualClock } from "@keelson/testkit";
import { describe, expect, it } from "vitest";
import { JOB_LIMITS, type JobSpec, type JobView } from "../engine/index.ts";
import { DurableQueue, type DurableQueueOptions } from "./durable-queue.ts";
import { MemoryPagesPlace } from "./memory-pages.ts";
import { NodeJournal } from "./node-journal.ts";

const cron = { problem: () => undefined, next: () => undefined };

class Scene {
  readonly clock = new ManualClock();
  readonly objects = new MemoryObjects();
  readonly place = new MemoryPagesPlace();
  #revision = 0;

  async journal(name = "node-a"): Promise<NodeJournal> {
    this.#revision += 1;
    return NodeJournal.open({
      objects: this.objects,
      name,
      epoch: { era: 1, revision: this.#revision },
      clock: this.clock,
      random: () => 0.5,
      terms: { gatherMs: 0 },
    });
  }

  async open(journal: NodeJournal, more: Partial<DurableQueueOptions> = {}): Promise<DurableQueue> {
    this.#revision += 1;
    return DurableQueue.open({
      shard: "s1",
      epoch: { era: 1, revision: this.#revision },
      pages: more.pages ?? this.place.open(),
      journal,
      objects: this.objects,
      clock: this.clock,
      random: () => 0.5,
      rates: undefined,
      cron,
      ...more,
    });
  }
}

function job(id: string, more: Partial<JobSpec> = {}): JobSpec {
  return { id, tenant: "t", group: "g", payload: Buffer.from(id), ...more };
}

async function runAll(queue: DurableQueue, max = 100): Promise<string[]> {
  const leased = await queue.execute({ kind: "lease", group: "g", worker: "w", max });
  if ("refused" in leased) throw new Error(leased.message);
  const reports = leased.tasks.map(({ task, spec }) => ({
    task,
    outcome: { kind: "succeeded" as const, result: Buffer.from(`result of ${spec.id}`) },
  }));
  await queue.execute({ kind: "report", reports });
  return leased.tasks.map(({ spec }) => spec.id);
}

/** Moves a checkpoint on: its pauses are timers. */
async function checkpoint(scene: Scene, queue: DurableQueue): Promise<void> {
  let done = false;
  const running = queue.checkpoint().finally(() => (done = true));
  // Awaited below; until then nobody else would listen.
  running.catch(() => {});
  for (let turn = 0; turn < 1000 && !done; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    await scene.clock.advance(0);
  }
  await running;
}

async function idsOf(views: AsyncIterable<JobView>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { spec } of views) ids.push(spec.id);
  return ids;
}

describe("DurableQueue", () => {
  it("has everything that it answered after a crash", async () => {
    const scene = new Scene();
    const journal = await scene.journal();
    const queue = await scene.open(journal);
    await queue.execute({ kind: "enqueue", jobs: [job("a"), job("b"), job("c")] });
    await runAll(queue, 1);
    const again = await scene.open(await scene.journal());
    expect((await again.get({ tenant: "t", id: "a" }))?.status).toBe("succeeded");
    expect((await again.get({ tenant: "t", id: "b" }))?.status).toBe("scheduled");
    expect(await runAll(again)).toEqual(["b", "c"]);
  });

  it("finds finished jobs that have left memory, by id, status, time and metadata", async () => {
    const scene = new Scene();
    const queue = await scene.open(await scene.journal());
    const jobs = Array.from({ length: 50 }, (_, n) => job(`j${n}`, { metadata: { parity: String(n % 2) } }));
    await queue.execute({ kind: "enqueue", jobs });
    await runAll(queue, 30);
    await checkpoint(scene, queue);
    expect(queue.queries.stats()).toMatchObject({ finishedInMemory: 0, jobs: { scheduled: 20 } });
    const view = await queue.get({ tenant: "t", id: "j7" });
    expect(view).toMatchObject({ status: "succeeded", attempts: [{ number: 1, worker: "w" }] });
    expect(view?.attempts[0]?.outcome).toEqual({ kind: "succeeded", result: Buffer.from("result of j7") });
    expect(await queue.list({ tenant: "t", status: "succeeded", limit: 100 })).toHaveLength(30);
    expect(await queue.list({ tenant: "t", limit: 100 })).toHaveLength(50);
    const odd = { key: "parity", value: "1" };
    expect(await queue.list({ tenant: "t", metadata: odd, limit: 100 })).toHaveLength(25);
    expect(await queue.list({ tenant: "t", metadata: odd, status: "succeeded", limit: 100 })).toHaveLength(
      15,
    );
  });

  it("knows a repeated id, a restart and a delete of a job that has left memory", async () => {
    const scene = new Scene();
    const queue = await scene.open(await scene.journal());
    await queue.execute({ kind: "enqueue", jobs: [job("a"), job("b")] });
    await runAll(queue);
    await checkpoint(scene, queue);
    expect(await queue.execute({ kind: "enqueue", jobs: [job("a")] })).toEqual([
      { id: "a", outcome: "same" },
    ]);
    expect(await queue.execute({ kind: "enqueue", jobs: [job("a", { priority: 3 })] })).toMatchObject([
      { refused: "CONFLICT" },
    ]);
    expect(await queue.execute({ kind: "restart", tenant: "t", id: "a" })).toMatchObject({
      refused: "WRONG_STATE",
    });
    expect(await queue.execute({ kind: "delete", tenant: "t", id: "a" })).toEqual({ done: true });
    expect(await queue.get({ tenant: "t", id: "a" })).toBeUndefined();
    const again = await scene.open(await scene.journal());
    expect(await again.get({ tenant: "t", id: "a" })).toBeUndefined();
    await checkpoint(scene, again);
    expect(await again.get({ tenant: "t", id: "a" })).toBeUndefined();
    expect(await again.list({ tenant: "t", limit: 10 })).toHaveLength(1);
    expect(await again.execute({ kind: "enqueue", jobs: [job("a")] })).toEqual([
      { id: "a", outcome: "created" },
    ]);
  });

  it("restarts a failed job that has left memory, and lists it once", async () => {
    const scene = new Scene();
    const queue = await scene.open(await scene.journal());
    await queue.execute({ kind: "enqueue", jobs: [job("a")] });
    const leased = await queue.execute({ kind: "lease", group: "g", worker: "w", max: 1 });
    if ("refused" in leased) throw new Error(leased.message);
    const outcome = { kind: "failed", code: "E", data: Buffer.from("why") } as const;
    await queue.execute({ kind: "report", reports: [{ task: leased.tasks[0]!.task, outcome }] });
    await checkpoint(scene, queue);
    await scene.clock.advance(1000);
    expect(await queue.execute({ kind: "restart", tenant: "t", id: "a" })).toEqual({ done: true });
    expect((await queue.list({ tenant: "t", limit: 10 })).map(({ status }) => status)).toEqual(["scheduled"]);
    const again = await scene.open(await scene.journal());
    expect(await runAll(again)).toEqual(["a"]);
    await checkpoint(scene, again);
    const views = await again.list({ tenant: "t", limit: 10 });
    expect(views.map(({ status, attempts }) => [status, attempts.length])).toEqual([["succeeded", 2]]);
    expect(await again.list({ tenant: "t", status: "failed", limit: 10 })).toHaveLength(0);
  });

  it("opens from a checkpoint and the records after it, in another node's journal too", async () => {
    const scene = new Scene();
    const first = await scene.open(await scene.journal("node-a"));
    const jobs = Array.from({ length: 600 }, (_, n) => job(`j${n}`));
    await first.execute({ kind: "enqueue", jobs });
    await runAll(first, 100);
    await checkpoint(scene, first);
    await runAll(first, 100);
    const second = await scene.open(await scene.journal("node-b"));
    expect(second.stats.replayedRecords).toBe(2);
    await runAll(second, 100);
    const third = await scene.open(await scene.journal("node-c"));
    expect(third.queries.stats().jobs.scheduled).toBe(300);
    await expect(first.execute({ kind: "enqueue", jobs: [job("late")] })).rejects.toMatchObject({
      code: "JOBS_UNKNOWN",
    });
    await checkpoint(scene, third);
    expect(await third.list({ tenant: "t", status: "succeeded", limit: 1000 })).toHaveLength(300);
    const fourth = await scene.open(await scene.journal("node-d"));
    expect(fourth.stats.replayedRecords).toBe(0);
    expect(fourth.queries.stats().jobs.scheduled).toBe(300);
  });

  it("merges runs, and forgets what has expired", async () => {
    const scene = new Scene();
    const queue = await scene.open(await scene.journal(), { terms: { retentionMs: 1_000_000 } });
    for (let round = 0; round < 20; round++) {
      await queue.execute({
        kind: "enqueue",
        jobs: [job(`r${round}`), job(`s${round}`, { retentionMs: 10 })],
      });
      await runAll(queue);
      await checkpoint(scene, queue);
      await scene.clock.advance(100);
    }
    expect(queue.stats.runs).toBeLessThan(8);
    expect(await queue.list({ tenant: "t", limit: 100 })).toHaveLength(20);
    expect(await queue.get({ tenant: "t", id: "r0" })).toMatchObject({ status: "succeeded" });
    await scene.clock.advance(2_000_000);
    expect(await queue.list({ tenant: "t", limit: 100 })).toHaveLength(0);
    await queue.execute({ kind: "enqueue", jobs: [job("last")] });
    await checkpoint(scene, queue);
    expect(queue.stats).toMatchObject({ runs: 0, finishedInPages: 0 });
  });

  it.each([
    ["its directory", /^directory\//, 2],
    ["its manifest", /^manifest$/, 2],
    ["the directory of a merged run", /^directory\/\d+\.1$/, 20],
  ])("leaves no run behind of a checkpoint that failed after it wrote %s", async (_, failsAt, rounds) => {
    const scene = new Scene();
    const pages = scene.place.open();
    let failing = false;
    const queue = await scene.open(await scene.journal(), {
      pages: {
        get: (key) => pages.get(key),
        scan: (from, options) => pages.scan(from, options),
        async write(batch) {
          await pages.write(batch);
          if (failing && batch.put.some(({ key }) => failsAt.test(key))) throw new Error("no answer");
        },
        close: () => pages.close(),
      },
    });
    let failures = 0;
    for (let round = 0; round < rounds; round += 1) {
      failing = round < rounds - 1;
      await queue.execute({ kind: "enqueue", jobs: [job(`j${round}`)] });
      await runAll(queue);
      await checkpoint(scene, queue).catch(() => (failures += 1));
    }
    expect(failures).toBeGreaterThan(0);
    const named = new Set(queue.manifest.runs);
    const runs = [...scene.place.values.keys()].filter((key) => /^(?:run|directory)\//.test(key));
    expect(runs.filter((key) => !named.has(key.split("/")[1] ?? ""))).toEqual([]);
    const again = await scene.open(await scene.journal());
    expect(await again.list({ tenant: "t", status: "succeeded", limit: 100 })).toHaveLength(rounds);
  });

  it("answers whoever was reading runs when they were merged and removed", async () => {
    const scene = new Scene();
    const pages = scene.place.open();
    let gate = Promise.resolve();
    const queue = await scene.open(await scene.journal(), {
      pages: {
        get: async (key) => {
          if (key.startsWith("run/") && key.includes(".0/")) await gate;
          return pages.get(key);
        },
        scan: (from, options) => pages.scan(from, options),
        write: (batch) => pages.write(batch),
        close: () => pages.close(),
      },
    });
    const end = async (round: number): Promise<void> => {
      await queue.execute({ kind: "enqueue", jobs: [job(`j${round}`)] });
      await runAll(queue);
      await checkpoint(scene, queue);
    };
    for (let round = 0; round < 15; round += 1) await end(round);
    expect(queue.stats.runs).toBe(15);
    let open!: () => void;
    const closed = new Promise<void>((resolve) => (open = resolve));
    gate = closed;
    const read = Promise.all([
      queue.get({ tenant: "t", id: "j0" }),
      queue.list({ tenant: "t", status: "succeeded", limit: 100 }),
      idsOf(queue.everyJob()),
      queue.tenantsWithEnded(10),
    ]).catch((error: unknown) => error as Error);
    // Those who began before wait; the merge itself does not.
    await new Promise((resolve) => setImmediate(resolve));
    gate = Promise.resolve();
    await end(15);
    expect(queue.stats.runs).toBe(1);
    open();
    const answers = await read;
    if (answers instanceof Error) throw answers;
    const [view, list, all, tenants] = answers;
    expect(view?.status).toBe("succeeded");
    const ended = Array.from({ length: 15 }, (_, round) => `j${round}`);
    expect(list.map(({ spec }) => spec.id)).toEqual(expect.arrayContaining(ended));
    expect(all).toEqual(expect.arrayContaining(ended));
    expect(tenants).toEqual(["t"]);
  });

  it("looks up a large batch of ended jobs a few at a time", async () => {
    const scene = new Scene();
    const pages = scene.place.open();
    let [now, most] = [0, 0];
    const queue = await scene.open(await scene.journal(), {
      pages: {
        get: async (key) => {
          most = Math.max(most, ++now);
          await new Promise((resolve) => setImmediate(resolve));
          now -= 1;
          return pages.get(key);
        },
        scan: (from, options) => pages.scan(from, options),
        write: (batch) => pages.write(batch),
        close: () => pages.close(),
      },
    });
    const jobs = Array.from({ length: 500 }, (_, n) => job(`j${n}`));
    await queue.execute({ kind: "enqueue", jobs });
    await runAll(queue, 500);
    await checkpoint(scene, queue);
    const answers = await queue.execute({ kind: "enqueue", jobs });
    expect(answers.map((each) => "outcome" in each && each.outcome)).toEqual(jobs.map(() => "same"));
    expect(most).toBeLessThanOrEqual(64);
  });

  it("takes the largest jobs that limits allow, and has them after a crash", async () => {
    const scene = new Scene();
    const queue = await scene.open(await scene.journal());
    const large = Buffer.alloc(JOB_LIMITS.payloadBytesMax, 7);
    const value = "x".repeat(JOB_LIMITS.metadataValueCharsMax);
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`k${n}`, value]));
    const attempt = {
      outcome: { kind: "succeeded", result: large },
      startedAtMs: 1,
      finishedAtMs: scene.clock.wall(),
    } as const;
    const ended = Array.from({ length: 12 }, (_, n) => `ended${n}`);
    const imported = ended.map((id) => ({ ...job(id), enqueuedAtMs: 1, attempts: [attempt] }));
    await queue.execute({ kind: "import", jobs: imported });
    const failed = { ...attempt, outcome: { kind: "failed", code: "C", data: large } } as const;
    const past = { enqueuedAtMs: 1, attempts: [failed, failed, failed, attempt] };
    await queue.execute({ kind: "import", jobs: [{ ...job("past"), ...past }] });
    const jobs = [job("large", { metadata, payload: large }), job("given", { after: ended })];
    await queue.execute({ kind: "enqueue", jobs });
    const again = await scene.open(await scene.journal());
    expect((await again.get({ tenant: "t", id: "large" }))?.spec.payload).toHaveLength(large.length);
    expect((await again.get({ tenant: "t", id: "past" }))?.attempts).toHaveLength(4);
    const leased = await again.execute({ kind: "lease", group: "g", worker: "w", max: 10 });
    const given = "tasks" in leased ? leased.tasks.find(({ spec }) => spec.id === "given") : undefined;
    // Eight of half a MiB are four.
    expect(given?.inputs.map(({ omitted }) => omitted)).toEqual(ended.map((_, n) => n >= 8));
  });

  it("makes up for many missed runs of a large schedule without more than the journal takes at once", async () => {
    const scene = new Scene();
    const everyMinute = {
      problem: () => undefined,
      next: (_: string, __: string, afterMs: number) => (Math.floor(afterMs / 60_000) + 1) * 60_000,
    };
    const payload = Buffer.alloc(JOB_LIMITS.payloadBytesMax, 7);
    const first = await scene.open(await scene.journal(), { cron: everyMinute });
    const schedule = { id: "s", tenant: "t", cron: "* * * * *", timeZone: "UTC", missed: "all" } as const;
    await first.execute({ kind: "putSchedule", schedule: { ...schedule, job: { group: "g", payload } } });
    await first.close();
    const runs = 150;
    await scene.clock.advance(runs * 60_000);
    const again = await scene.open(await scene.journal(), { cron: everyMinute });
    const made = (): number => again.queries.stats().jobs.scheduled;
    for (let turn = 0; turn < 5_000 && made() < runs && again.failure === undefined; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      await scene.clock.advance(0);
    }
    expect(again.failure).toBeUndefined();
    expect(made()).toBe(runs);
  });

  it("trims its journal to what checkpoints do not have", async () => {
    const scene = new Scene();
    const journal = await scene.journal();
    const queue = await scene.open(journal);
    for (let round = 0; round < 5; round++) {
      await queue.execute({ kind: "enqueue", jobs: [job(`r${round}`)] });
      await checkpoint(scene, queue);
    }
    const { objects } = await scene.objects.list("journal/node-a/segment/", { timeoutMs: 1000 });
    expect(objects.length).toBeLessThan(6);
  });
});
