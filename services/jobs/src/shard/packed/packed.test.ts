import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeBody } from "../../engine/codec/body.ts";
import { cronAlgorithm } from "../../cron/cron-algorithm.ts";
import {
  Engine,
  isRefusal,
  JOB_LIMITS,
  type AttemptOutcome,
  type JobSpec,
  type TakenTask,
} from "../../engine/index.ts";
import { rateAlgorithm } from "../../gubernator/rate-algorithm.ts";
import { packJobs, unpackJobs } from "./jobs.ts";
import { packReports, unpackReports } from "./reports.ts";
import { packTasks, unpackTasks } from "./tasks.ts";

const NOW = { wallMs: 1_000, monoMs: 1_000 };
const bytes = (text: string): Uint8Array => Buffer.from(text);

function engine(): Engine {
  const made = new Engine({ random: () => 0.5, rates: rateAlgorithm, cron: cronAlgorithm });
  made.start(NOW);
  return made;
}

const name = fc.oneof(fc.constantFrom("a", "b"), fc.string({ maxLength: 70 }));
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq: 5 });
const spec: fc.Arbitrary<JobSpec> = fc.record({
  id: name,
  tenant: name,
  group: fc.oneof(fc.constantFrom("g", "h"), fc.string({ maxLength: 70 }), fc.constant("straße")),
  payload: fc.uint8Array({ maxLength: 300 }),
  priority: optional(fc.integer({ min: -1, max: 100 })),
  startAtMs: optional(fc.integer({ min: -1, max: 5_000 })),
  metadata: optional(fc.dictionary(fc.constantFrom("k", "l"), fc.string({ maxLength: 5 }))),
  retry: optional(fc.constant({ retries: 1, initialMs: 1, maxMs: 2, factor: 2, jitter: false } as const)),
});

test("packed jobs do to the engine exactly what the same jobs do one by one", () => {
  fc.assert(
    fc.property(fc.array(spec, { maxLength: 12 }), (jobs) => {
      const [plain, packed] = [engine(), engine()];
      const one = plain.apply({ kind: "enqueue", jobs }, NOW);
      const other = packed.apply({ kind: "add", jobs: unpackJobs(packJobs(jobs)) }, NOW);
      expect(Buffer.concat(other.records)).toEqual(Buffer.concat(one.records));
      expect(other.effects).toEqual(one.effects);
      const odd = one.answer
        .map((answer, index) => [index, answer] as const)
        .filter(([, answer]) => isRefusal(answer) || answer.outcome !== "created");
      expect(other.answer).toEqual(odd);
      const [leased, taken] = [
        plain.apply({ kind: "lease", group: "g", worker: "w", max: 100 }, NOW),
        packed.apply({ kind: "take", group: "g", worker: "w", max: 100 }, NOW),
      ];
      expect(Buffer.concat(taken.records)).toEqual(Buffer.concat(leased.records));
      if (isRefusal(leased.answer) || isRefusal(taken.answer)) throw new Error("refused");
      const given = [...packTasks(taken.answer.taken)].flatMap((block) => unpackTasks(block));
      expect(
        given.map(({ task, id, tenant, group, attempt, isLastAttempt }) => ({
          task,
          id,
          tenant,
          group,
          attempt,
          isLastAttempt,
        })),
      ).toEqual(
        leased.answer.tasks.map(({ task, spec: { id, tenant, group }, attempt, isLastAttempt }) => ({
          task,
          id,
          tenant,
          group,
          attempt,
          isLastAttempt,
        })),
      );
      expect(given.map(({ payload }) => Buffer.from(payload))).toEqual(
        leased.answer.tasks.map((each) => Buffer.from(each.spec.payload)),
      );
    }),
    { numRuns: 300 },
  );
});

test("jobs with more than group, priority and payload go beside the block, in their place", () => {
  const common = { tenant: "t", group: "g", payload: bytes("p") };
  const jobs: JobSpec[] = [
    { ...common, id: "0", timeoutMs: 5 },
    { ...common, id: "1", priority: 3 },
    { ...common, id: "2", after: ["1"] },
    { ...common, id: "3", group: "straße" },
  ];
  const add = packJobs(jobs);
  expect(add.others?.map(([index]) => index)).toEqual([0, 2, 3]);
  expect(unpackJobs(add)).toEqual([
    jobs[0],
    { id: "1", tenant: "t", group: "g", priority: 3, body: encodeBody(jobs[1]!) },
    jobs[2],
    jobs[3],
  ]);
});

const TASK: TakenTask = {
  task: 7,
  tenant: "t",
  id: "j",
  body: encodeBody({ group: "g", payload: bytes("p") }),
  attempt: 2,
  relativeAttempt: 1,
  isLastAttempt: true,
  leaseMs: 10_000,
  inputs: [],
};

test("tasks arrive as they left, with metadata and inputs when they have some", () => {
  const full: TakenTask = {
    ...TASK,
    task: 8,
    isLastAttempt: false,
    body: encodeBody({ group: "g", payload: bytes("q"), metadata: { k: "v" } }),
    inputs: [{ id: "a", outcome: { kind: "failed", code: "C", data: "d" }, omitted: false }],
  };
  const { body: _, ...common } = TASK;
  expect([...packTasks([TASK, full])].flatMap((block) => unpackTasks(block))).toEqual([
    { ...common, group: "g", payload: bytes("p"), metadata: {}, inputs: [] },
    {
      ...common,
      task: 8,
      isLastAttempt: false,
      group: "g",
      payload: bytes("q"),
      metadata: { k: "v" },
      inputs: [{ id: "a", outcome: { kind: "failed", code: "C", data: bytes("d") }, omitted: false }],
    },
  ]);
});

test("large tasks go in blocks that fit into a frame", () => {
  const body = encodeBody({ group: "g", payload: Buffer.alloc(512 * 1024) });
  const tasks = Array.from({ length: 30 }, (_, task) => ({ ...TASK, task, body }));
  const blocks = [...packTasks(tasks)];
  expect(Math.max(...blocks.map(({ length }) => length))).toBeLessThan(2 * 1024 * 1024);
  expect(blocks.flatMap((block) => unpackTasks(block)).map(({ task }) => task)).toEqual(
    tasks.map(({ task }) => task),
  );
});

test.each<AttemptOutcome>([
  { kind: "succeeded", result: bytes("r") },
  { kind: "failed", code: "", data: bytes("d") },
  { kind: "cancelled" },
])("the outcome $kind arrives as it left, in the form that is kept", (outcome) => {
  const code = outcome.kind === "failed" ? outcome.code : "";
  const data = outcome.kind === "succeeded" ? "r" : outcome.kind === "failed" ? "d" : "";
  expect(unpackReports(packReports([{ task: 7, outcome }]))).toEqual([
    { task: 7, outcome: { kind: outcome.kind, code, data } },
  ]);
});

test("damaged bytes are a RangeError and nothing else", () => {
  const sound = packJobs([{ id: "i", tenant: "t", group: "g", payload: bytes("p") }]).plain;
  const damaged = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.tuple(fc.nat(sound.length), fc.nat(255)).map(([at, value]) => {
      const copy = Buffer.from(sound);
      copy[at] = value;
      return copy.subarray(0, Math.max(at, 1));
    }),
  );
  fc.assert(
    fc.property(damaged, (block) => {
      for (const unpack of [() => unpackJobs({ plain: block }), () => unpackReports(block)])
        expect(["nothing", "RangeError"]).toContain(thrownBy(unpack));
    }),
  );
  expect(() =>
    unpackJobs({ plain: sound, others: [[5, { id: "o", tenant: "t", group: "g", payload: bytes("") }]] }),
  ).toThrow(RangeError);
});

test("more jobs or reports than a batch may have are a RangeError before there is an object for each", () => {
  const max = JOB_LIMITS.batchJobsMax;
  const block = (count: number, each: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from([1]), ...Array.from({ length: count }, () => each)]);
  const job = packJobs([{ id: "i", tenant: "t", group: "g", payload: bytes("") }]).plain.subarray(1);
  const report = packReports([{ task: 7, outcome: { kind: "cancelled" } }]).subarray(1);
  expect(unpackJobs({ plain: block(max, job) })).toHaveLength(max);
  expect(() => unpackJobs({ plain: block(max + 1, job) })).toThrow(RangeError);
  const other: JobSpec = { id: "o", tenant: "t", group: "g", payload: bytes("") };
  expect(() => unpackJobs({ plain: block(max, job), others: [[0, other]] })).toThrow(RangeError);
  expect(unpackReports(block(max, report))).toHaveLength(max);
  expect(() => unpackReports(block(max + 1, report))).toThrow(RangeError);
});

function thrownBy(run: () => unknown): string {
  try {
    run();
    return "nothing";
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}
