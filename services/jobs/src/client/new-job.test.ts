import { RouterError, type FleetAccess } from "@keelson/runtime";
import { expect, test } from "vitest";
import { unpackJobs, type Add } from "../shard/packed/jobs.ts";
import { ShardMap } from "../shard/ranges.ts";
import { JobsError } from "./errors.ts";
import { JobsClient } from "./jobs-client.ts";
import { specOf, type NewJob } from "./new-job.ts";

const circle: { self?: unknown } = {};
circle.self = circle;

test.each<[string, unknown, RegExp]>([
  ["no job at all", undefined, /a job is an object/],
  ["no group", {}, /field group/],
  ["a group that is a number", { group: 5 }, /field group/],
  ["an id that is a number", { group: "g", id: 5 }, /field id/],
  ["a tenant that is a number", { group: "g", tenant: 7 }, /field tenant/],
  ["a start that is a date", { group: "g", startAtMs: new Date() }, /field startAtMs/],
  ["metadata that is no text", { group: "g", metadata: { a: 1 } }, /field metadata/],
  ["a limit of no kind", { group: "g", limits: [{ kind: "x" }] }, /field limits/],
  ["limits that are no list", { group: "g", limits: {} }, /field limits/],
  ["nothing to wait for", { group: "g", after: "a" }, /field after/],
  ["a payload that contains itself", { group: "g", payload: circle }, /no plain data/],
  ["a payload that is too large", { group: "g", payload: Buffer.alloc(600_000) }, /payload has 600005 bytes/],
])("%s is its caller's failure", (_, job, message) => {
  expect(() => specOf(job as NewJob, "-")).toThrow(message);
  expect(() => specOf(job as NewJob, "-")).toThrow(JobsError);
});

test("what is left out of a retry policy and of a rate limit is filled in", () => {
  const limits = [{ kind: "rate", name: "n", uniqueKey: "k", limit: 5, durationMs: 1_000 }] as const;
  expect(specOf({ group: "g", retry: { retries: 3, factor: 4 }, limits }, "-")).toMatchObject({
    retry: { retries: 3, initialMs: 1_000, maxMs: 60_000, factor: 4, jitter: true },
    limits: [{ hits: 1, algorithm: 0, behavior: 0, burst: 0, backoff: { initialMs: 100 } }],
  });
});

/** Two shards, of which the client knows only that they were one. */
class SplitFleet {
  ids: readonly string[] = ["0000000000000000-ffffffffffffffff"];
  readonly added: string[] = [];

  readonly access = {
    shards: () => ({ ids: this.ids }),
    call: ({ shard, body }: { shard: string; body: unknown }) => {
      const halves = ["0000000000000000-7fffffffffffffff", "8000000000000000-ffffffffffffffff"];
      const map = new ShardMap(halves);
      const jobs = unpackJobs(body as Add);
      this.ids = halves;
      if (jobs.some(({ tenant }) => map.of(tenant) !== shard))
        return Promise.reject(
          new RouterError({ service: "jobs", shard }, { code: "NOT_IN_RANGE", text: "", unknown: false }, 1),
        );
      this.added.push(...jobs.map(({ id }) => id));
      return Promise.resolve({ body: [] });
    },
  } as unknown as FleetAccess;
}

test("jobs that a split has parted go to both halves, and do not wait for their time to be over", async () => {
  const fleet = new SplitFleet();
  const client = new JobsClient({ access: fleet.access, timeoutMs: 60_000 });
  const jobs = Array.from({ length: 20 }, (_, index) => ({
    group: "g",
    id: `j${index}`,
    tenant: `t${index % 7}`,
  }));
  const handles = await client.enqueueBatch(jobs);
  expect(handles.map((handle) => (handle as { id: string }).id)).toEqual(jobs.map(({ id }) => id));
  expect(fleet.added.sort()).toEqual(jobs.map(({ id }) => id).sort());
  await Promise.all(jobs.map((job) => client.enqueue({ ...job, id: `again-${job.id}` })));
  expect(fleet.added).toHaveLength(40);
});

test("a job that is malformed takes none of its batch along", async () => {
  const fleet = new SplitFleet();
  const client = new JobsClient({ access: fleet.access });
  const outcomes = await client.enqueueBatch([
    { group: "g", id: "a" },
    { group: "g", id: "b", payload: circle },
    { group: "g", id: "c" },
  ]);
  expect(outcomes.map((each) => (each instanceof JobsError ? each.code : each.id))).toEqual([
    "a",
    "INVALID",
    "c",
  ]);
  const together = await Promise.allSettled([
    client.enqueue({ group: "g", id: "d" }),
    client.enqueue({ group: "g", id: "e", metadata: { n: 1 } as never }),
    client.enqueue({ group: "g", id: "f" }),
  ]);
  expect(together.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
