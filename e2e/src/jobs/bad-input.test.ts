/** Bad input over every way into the job queue: the documented error, and nothing changed. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServiceError } from "@grpc/grpc-js";
import { createToken, tokensFromFile } from "@keelson/gateway";
import { connectJobs, type JobsClient } from "@keelson/jobs";
import { SystemClock } from "@keelson/runtime";
import { pack } from "msgpackr";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JobsGateway } from "./jobs-gateway.ts";
import { SiloClient } from "./silo-client.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-e2e-bad-input-"));
const TOO_LARGE = "x".repeat(600_000);
const JOBS = "/v1/jobs/tenants/acme/jobs";
const SCHEDULE = "/v1/jobs/tenants/acme/schedules/s";

let served: JobsGateway;
let client: JobsClient;
let silo: SiloClient;
let authorization = "";
/** For one tenant only. */
let limited = "";
let shard = "";

beforeAll(async () => {
  const all = createToken({ name: "all", scope: "admin" }, Date.now());
  const one = createToken({ name: "one", scope: "write", tenants: ["acme"] }, Date.now());
  const file = join(folder, "tokens.json");
  writeFileSync(file, JSON.stringify({ tokens: [all.record, one.record] }), { mode: 0o600 });
  authorization = `Bearer ${all.token}`;
  limited = `Bearer ${one.token}`;
  served = await JobsGateway.start({ tokens: tokensFromFile(file, new SystemClock()) });
  client = await connectJobs({ nodes: [served.address] });
  silo = new SiloClient(served.gateway.grpcAddress ?? "", all.token);
  shard = client.calls.shardOf("-");
  await client.enqueue({ group: "g", id: "there", payload: 1 });
}, 60_000);
afterAll(async () => {
  silo.close();
  await client.close({ graceMs: 0 });
  await served.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function counts(): Promise<unknown> {
  return (await served.call("GET", "/v1/jobs/stats", undefined, { authorization })).body;
}

function codeOf(body: unknown): unknown {
  return (body as { readonly error?: { readonly code?: unknown } }).error?.code;
}

/** Runs it, and expects that nothing has changed. */
async function unchanged<T>(run: () => Promise<T>): Promise<T> {
  const before = await counts();
  const outcome = await run();
  expect(await counts()).toEqual(before);
  return outcome;
}

describe("over HTTP", () => {
  test.each<[string, string, string, unknown, number, string]>([
    ["an oversized payload", "POST", JOBS, { group: "g", payload: TOO_LARGE }, 400, "INVALID"],
    ["a body above the route's limit", "POST", JOBS, { payload: TOO_LARGE.repeat(8) }, 413, "TOO_LARGE"],
    ["a negative priority", "POST", JOBS, { group: "g", priority: -1 }, 400, "BAD_REQUEST"],
    ["a priority of 100", "POST", JOBS, { group: "g", priority: 100 }, 400, "BAD_REQUEST"],
    ["an unknown tenant", "GET", "/v1/jobs/tenants/nobody/jobs/there", undefined, 404, "JOB_NOT_FOUND"],
    [
      "a tenant's name of 65 characters",
      "POST",
      `/v1/jobs/tenants/${"x".repeat(65)}/jobs`,
      { group: "g" },
      400,
      "BAD_REQUEST",
    ],
    ["a bad cron", "PUT", SCHEDULE, { cron: "61 * * * *", job: { group: "g" } }, 400, "INVALID"],
    ["a cron that never comes", "PUT", SCHEDULE, { cron: "0 0 31 2 x", job: { group: "g" } }, 400, "INVALID"],
    [
      "a bad time zone",
      "PUT",
      SCHEDULE,
      { cron: "* * * * *", timeZone: "Mars/North", job: { group: "g" } },
      400,
      "INVALID",
    ],
    [
      "a limit of nothing",
      "POST",
      JOBS,
      { group: "g", limits: [{ kind: "concurrency", key: "k", max: 0 }] },
      400,
      "BAD_REQUEST",
    ],
    ["an unknown dependency", "POST", JOBS, { group: "g", after: ["nowhere"] }, 404, "DEPENDENCY_NOT_FOUND"],
    ["broken JSON", "POST", JOBS, "{", 400, "BAD_JSON"],
    [
      "an unknown action",
      "POST",
      "/v1/jobs/tenants/acme/bulk",
      { action: "x", ids: ["a"] },
      400,
      "BAD_REQUEST",
    ],
    ["an unknown shard", "POST", "/v1/jobs/shards/99/split", {}, 404, "SHARD_NOT_FOUND"],
    ["a split outside the range", "POST", "/v1/jobs/shards/0/split", { at: "f".repeat(16) }, 400, "INVALID"],
  ])("%s", async (_, verb, path, body, status, code) => {
    const answer = await unchanged(() => served.call(verb, path, body, { authorization }));
    expect([answer.status, codeOf(answer.body)]).toEqual([status, code]);
  });

  test.each<[string, () => Record<string, string>, string, number]>([
    ["no token", () => ({}), JOBS, 401],
    ["a wrong token", () => ({ authorization: `${authorization}x` }), JOBS, 401],
    ["another tenant's token", () => ({ authorization: limited }), "/v1/jobs/tenants/other/jobs", 403],
  ])("%s", async (_, headers, path, status) => {
    const answer = await unchanged(() => served.call("POST", path, { group: "g" }, headers()));
    expect(answer.status).toBe(status);
  });
});

describe("over gRPC", () => {
  test.each<[string, object, RegExp]>([
    [
      "an oversized payload",
      { task_group: "g", payload: { msgpack: pack(TOO_LARGE) } },
      /^3 the payload has/,
    ],
    ["a negative priority", { task_group: "g", priority: -1 }, /^3 priority must be between 0 and 99$/],
    ["no task group", {}, /^3 task_group is required$/],
    ["a tenant on the wrong shard", { task_group: "g", tenant: "elsewhere-1" }, /^9 .*is not within shard/],
    [
      "too much metadata",
      { task_group: "g", metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, ""])) },
      /^3 metadata has too many/,
    ],
  ])("%s", async (_, job, failure) => {
    // Some tenant that belongs to another shard than those without one.
    const tenant = ["elsewhere-1", "elsewhere-2", "elsewhere-3", "elsewhere-4", "elsewhere-5"].find(
      (each) => client.calls.shardOf(each) !== shard,
    );
    const asked = "tenant" in job ? { ...job, tenant } : job;
    expect(await unchanged(() => silo.failureOf("Enqueue", { shard, id: "bad", ...asked }))).toMatch(failure);
  });

  test("an unknown tenant", async () => {
    const request = { shard: client.calls.shardOf("nobody"), id: "there", tenant: "nobody" };
    expect(await unchanged(() => silo.failureOf("GetJob", request))).toBe("5 job not found");
    expect(await unchanged(() => silo.failureOf("CancelJob", request))).toBe("5 job not found");
  });

  test.each([
    ["a message that is none", [0xff, 0xff, 0xff]],
    ["a text that ends too early", [0x0a, 0x20, 0x61]],
    ["a field of the wrong kind", [0x08, 0x01]],
    ["the field 0", [0x02, 0x00]],
  ])("malformed protobuf: %s", async (_, bytes) => {
    const failure = await unchanged(() => silo.raw("/silo.v1.Silo/Enqueue", Buffer.from(bytes)));
    // What gRPC servers answer to bytes that are no message.
    expect((failure as ServiceError).code).toBe(13);
  });

  test("a wrong token, none, and another tenant's", async () => {
    const address = served.gateway.grpcAddress ?? "";
    const clients = ["wrong", undefined, limited.slice("Bearer ".length)].map(
      (token) => new SiloClient(address, token),
    );
    const request = { shard, id: "x", task_group: "g", tenant: "other" };
    const failures = await unchanged(() =>
      Promise.all(clients.map((each) => each.failureOf("Enqueue", request))),
    );
    for (const each of clients) each.close();
    expect(failures.map((each) => each.split(" ")[0])).toEqual(["16", "16", "7"]);
  });
});

describe("over the TypeScript client", () => {
  const backoff = { initialMs: 1, maxMs: 1, factor: 1 };
  const rate = { kind: "rate", name: "n", uniqueKey: "k", limit: 1, durationMs: 1, algorithm: 9 } as const;
  test.each<[string, object, string]>([
    ["an oversized payload", { payload: TOO_LARGE }, "INVALID"],
    ["a negative priority", { priority: -1 }, "INVALID"],
    ["a priority that is no number", { priority: "high" }, "INVALID"],
    ["an empty tenant", { tenant: "" }, "INVALID"],
    ["an unknown algorithm", { limits: [{ ...rate, hits: 1, behavior: 0, burst: 0, backoff }] }, "INVALID"],
    ["an unknown dependency", { after: ["nowhere"] }, "DEPENDENCY_NOT_FOUND"],
    ["other content under an id", { id: "there", payload: 2 }, "CONFLICT"],
  ])("%s", async (_, job, code) => {
    const failure = await unchanged(() =>
      client.enqueue({ group: "g", ...job }).catch((error: unknown) => error),
    );
    expect(failure).toMatchObject({ code });
  });

  test("an unknown tenant and an unknown job", async () => {
    expect(await client.get("there", "nobody")).toBeUndefined();
    for (const kind of ["cancel", "restart", "expedite", "delete"] as const)
      expect(
        await unchanged(() => client[kind]("there", "nobody").catch((error: unknown) => error)),
      ).toMatchObject({
        code: "JOB_NOT_FOUND",
      });
  });

  test.each<[string, string, unknown, string]>([
    ["a command that is none", "execute", { kind: "explode" }, "INVALID"],
    ["a command of the wrong shape", "execute", { kind: "enqueue", jobs: [{ id: 5 }] }, "INVALID"],
    ["a body that is none", "execute", "enqueue", "INVALID"],
    ["a method that is none", "explode", {}, "NO_METHOD"],
    ["an acknowledgement of the wrong shape", "ack", { session: 1 }, "INVALID"],
  ])("%s", async (_, method, body, code) => {
    const failure = await unchanged(() =>
      client.calls
        .byShard(shard, "write", method, body, { timeoutMs: 5_000 })
        .catch((error: unknown) => error),
    );
    expect(failure).toMatchObject({ code });
  });
});
