import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { digestState } from "../engine/checkpoint/digest.ts";
import { decodeJobPage, encodeJobPage } from "../engine/checkpoint/job-page.ts";
import { encodeRest } from "../engine/checkpoint/rest.ts";
import { OP, RecordLog } from "../engine/codec/record-log.ts";
import { done, EngineScene, failed, job } from "../engine/engine-scene.ts";
import { Engine, type TakenTask } from "../engine/index.ts";
import { packJobs } from "../shard/packed/jobs.ts";
import { packReports } from "../shard/packed/reports.ts";
import { packTasks } from "../shard/packed/tasks.ts";
import { everySoOften, spacing } from "../sim/algorithms.ts";
import { FinishedJobs } from "./finished/finished-jobs.ts";
import { encodeManifest } from "./manifest.ts";
import { MemoryPagesPlace } from "./memory-pages.ts";

const folder = join(import.meta.dirname, "../../testdata/v1");
const sample = (name: string): Buffer => readFileSync(join(folder, name));
const RETRY = { retries: 2, initialMs: 50, maxMs: 500, factor: 2, jitter: true };
const RATE = {
  kind: "rate",
  name: "r",
  uniqueKey: "u",
  limit: 10,
  durationMs: 1_000,
  hits: 1,
  algorithm: 0,
  behavior: 0,
  burst: 0,
  backoff: { initialMs: 10, maxMs: 100, factor: 2 },
} as const;
const FLOATING = { kind: "floating", key: "f", defaultMax: 2, refreshMs: 100, metadata: { m: "1" } } as const;

/** A queue to which everything has happened once. */
function story(): EngineScene {
  const scene = new EngineScene({ leaseMs: 1_000, lostLeasesMax: 5 });
  const { wallMs } = scene;
  scene.enqueue(
    job("plain"),
    job("full", {
      priority: 3,
      retry: RETRY,
      timeoutMs: 60_000,
      retentionMs: 5_000,
      metadata: { b: "2", a: "ä" },
      limits: [{ kind: "concurrency", key: "c", max: 1 }, FLOATING, RATE],
    }),
    job("after", { after: ["plain"], onDependencyFailure: "run" }),
    job("bounce", { dedupe: { key: "d", mode: "debounce", waitMs: 500, maxWaitMs: 900 } }),
    job("bounced", { dedupe: { key: "d", mode: "debounce", waitMs: 500, maxWaitMs: 900 } }),
    job("later", { startAtMs: wallMs + 50_000, tenant: "ü" }),
    job("never", { startAtMs: wallMs + 90_000, dedupe: { key: "t", mode: "throttle", windowMs: 10 } }),
  );
  scene.do({ kind: "setTenant", tenant: "t", weight: 3 });
  scene.do({ kind: "setGroup", group: "other", paused: true });
  const [full, plain] = scene.lease(2);
  scene.report(plain);
  scene.report(full, failed);
  const [again] = scene.lease(1);
  scene.do({ kind: "giveBack", worker: "w", tasks: [again!.task] });
  scene.lease(1);
  scene.pass(1_500);
  scene.do({ kind: "tick" });
  scene.do({ kind: "expedite", tenant: "ü", id: "later" });
  scene.do({ kind: "cancel", tenant: "t", id: "never" });
  scene.do({ kind: "restart", tenant: "t", id: "never" });
  scene.do({ kind: "cancel", tenant: "t", id: "never" });
  scene.do({ kind: "delete", tenant: "t", id: "never" });
  const attempt = { outcome: failed, startedAtMs: wallMs - 20, finishedAtMs: wallMs - 10 };
  scene.do({
    kind: "import",
    jobs: [
      { ...job("old", { metadata: { k: "v" } }), enqueuedAtMs: wallMs - 30, attempts: [attempt] },
      { ...job("older"), enqueuedAtMs: wallMs - 40, attempts: [{ ...attempt, outcome: done }] },
    ],
  });
  const leased = scene.do({ kind: "lease", group: "g", worker: "w2", max: 5 });
  if ("refused" in leased) throw new Error(leased.message);
  for (const { task } of leased.refreshes) scene.do({ kind: "reportRefresh", task, outcome: { max: 7 } });
  const schedule = { tenant: "t", cron: "every 100", timeZone: "UTC", missed: "all", job: job("") } as const;
  scene.do({ kind: "putSchedule", schedule: { ...schedule, id: "s1" } });
  scene.do({ kind: "putSchedule", schedule: { ...schedule, id: "s2" } });
  scene.pass(250);
  scene.do({ kind: "tick" });
  scene.do({ kind: "deleteSchedule", tenant: "t", id: "s2" });
  scene.records.push(...scene.engine.mark(7));
  return scene;
}

/** What came later than the story above, which is frozen as it is. */
function laterStory(): EngineScene {
  const scene = new EngineScene({ leaseMs: 1_000, lostLeasesMax: 5 });
  scene.enqueue(job("fleeting", { retentionMs: 0 }));
  scene.report(scene.lease(1)[0]);
  return scene;
}

const TASK: TakenTask = {
  task: 300,
  tenant: "t",
  id: "plain",
  body: "\u0001\u0001g2\u0000p",
  attempt: 2,
  relativeAttempt: 1,
  isLastAttempt: true,
  leaseMs: 1_000,
  inputs: [{ id: "a", outcome: { kind: "succeeded", code: "", data: "r" }, omitted: false }],
};

/** Format 1, as it was when it was frozen. A change of these bytes is a new format, which must have a new version and read the old one. */
async function made(): Promise<Map<string, Buffer>> {
  const { engine, records } = story();
  const { state } = engine;
  const all = new Map<string, Buffer>();
  all.set("records", framed(records));
  all.set("records-later", framed(laterStory().records));
  all.set("state", Buffer.from(digestState(state), "latin1"));
  const pages: Buffer[] = [];
  state.pages.beginHandOver((page) => void pages.push(...encodeJobPage(page)));
  state.pages.handOverSome(100);
  all.set("active-page", framed(pages));
  all.set("rest", encodeRest(state));
  const place = new MemoryPagesPlace().open();
  const finished = await FinishedJobs.load(place, [], 86_400_000);
  await finished.write(7, [...state.finished], [{ tenant: "t", id: "gone" }]);
  for (const { key, value } of await place.scan("", { limit: 100 }))
    all.set(`page-${key.replaceAll("/", "-")}`, Buffer.from(value));
  const epoch = { era: 1, revision: 9 };
  const tails = [{ journal: "node/n", epoch, from: 3, mark: 7 }];
  all.set(
    "manifest",
    encodeManifest({ version: 1, checkpoint: 7, restChunks: 1, runs: ["000000000007.0"], tails }),
  );
  all.set("packed-jobs", Buffer.from(packJobs([job("a"), job("b", { priority: 9 })]).plain));
  all.set("packed-tasks", framed([...packTasks([TASK])]));
  all.set(
    "packed-reports",
    packReports([done, failed, { kind: "cancelled" } as const].map((outcome, task) => ({ task, outcome }))),
  );
  return all;
}

test("every format is written as it was frozen", async () => {
  const all = await made();
  expect(readdirSync(folder).toSorted()).toEqual([...all.keys()].toSorted());
  for (const [name, bytes] of all) expect([name, bytes.equals(sample(name))]).toEqual([name, true]);
});

test("the frozen records hold every operation there is", () => {
  const op = vi.spyOn(RecordLog.prototype, "op");
  story();
  laterStory();
  const seen = new Set(op.mock.calls.map(([kind]) => kind));
  op.mockRestore();
  const missing = Object.entries(OP).filter(([, kind]) => !seen.has(kind));
  expect(missing.map(([name]) => name)).toEqual([]);
});

test("frozen records give the state that they gave when they were frozen, and frozen pages its jobs", () => {
  const engine = new Engine(
    { random: () => 0.5, rates: spacing, cron: everySoOften },
    { leaseMs: 1_000, lostLeasesMax: 5 },
  );
  for (const record of unframed(sample("records"))) engine.replay(record);
  expect(Buffer.from(digestState(engine.state), "latin1").equals(sample("state"))).toBe(true);
  const stored = unframed(sample("active-page")).flatMap((page) => decodeJobPage(page));
  expect(stored.map(({ id }) => id).toSorted()).toEqual(
    Array.from(engine.state.pages.jobs(), ({ id }) => id).toSorted(),
  );
});

test("frozen records of a job that nothing is kept of leave nothing", () => {
  const engine = new Engine({ random: () => 0.5, rates: spacing, cron: everySoOften });
  for (const record of unframed(sample("records-later"))) engine.replay(record);
  expect(engine.state.tenants.size).toBe(0);
  expect(engine.state.lastTask).toBe(1);
});

function framed(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const head = Buffer.alloc(4);
      head.writeUInt32LE(part.length);
      return [head, part];
    }),
  );
}

function unframed(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32LE(at);
    parts.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return parts;
}
