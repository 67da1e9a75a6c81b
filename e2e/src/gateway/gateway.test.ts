import { counterPlugin } from "@keelson/examples";
import { apiClient, followApi } from "@keelson/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayFleet, until } from "./fleet.ts";

let fleet: GatewayFleet;
beforeAll(async () => {
  fleet = await GatewayFleet.start();
  await until("every shard is held", () =>
    Array.from({ length: 6 }, (_, i) => fleet.holder(`counter/${i}/0`)).every((name) => name !== undefined),
  );
});
afterAll(() => fleet.stop());

test("brings a request to the shard and its answer back, typed by the plug-in's routes", async () => {
  const counter = apiClient(counterPlugin, { url: fleet.gateway.url });
  expect(await counter.add({ params: { shard: "2" }, body: { by: 3 } })).toEqual({ value: 3 });
  expect(await counter.get({ params: { shard: "2" } })).toEqual({ value: 3 });
  const { headers } = await fleet.get("/v1/counter/2");
  expect(headers.get("keelson-epoch")).toMatch(/^\d+[.:/-]\d+$/);
  expect(headers.get("keelson-stale-ms")).toBeNull();
});

test("adds up what all shards say", async () => {
  const counter = apiClient(counterPlugin, { url: fleet.gateway.url });
  const before = (await counter.total({})).total;
  await counter.add({ params: { shard: "0" }, body: { by: 5 } });
  await counter.add({ params: { shard: "5" }, body: { by: 7 } });
  expect(await counter.total({})).toEqual({ total: before + 12 });
});

test("follows a shard, as lines and as events, and lets go when the reader leaves", async () => {
  const counter = apiClient(counterPlugin, { url: fleet.gateway.url });
  const seen: unknown[] = [];
  const { value } = await counter.get({ params: { shard: "3" } });
  for await (const item of followApi(
    "counter",
    counterPlugin.http!.watch,
    { params: { shard: "3" } },
    { url: fleet.gateway.url },
  )) {
    seen.push(item);
    if (seen.length === 3) break;
    await counter.add({ params: { shard: "3" }, body: { by: 1 } });
  }
  expect(seen).toEqual([{ value }, { value: value + 1 }, { value: value + 2 }]);
  const answer = await fetch(`${fleet.gateway.url}/v1/counter/3/watch`, {
    headers: { accept: "text/event-stream" },
  });
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe(`data: {"value":${value + 2}}\n\n`);
  await reader.cancel();
  await until("streams are closed", async () =>
    String((await fleet.get("/metrics")).body).includes("keelson_gateway_streams 0\n"),
  );
});

test.each([
  ["GET", "/v1/counter/99", undefined, 404, "NO_SHARD"],
  ["GET", "/v1/nothing", undefined, 404, "NO_ROUTE"],
  ["GET", "/v1/counter/%zz", undefined, 400, "MALFORMED"],
  ["DELETE", "/v1/counter/1", undefined, 405, "NO_METHOD"],
  ["POST", "/v1/counter/1/add", "{", 400, "BAD_JSON"],
  ["POST", "/v1/counter/1/add", "{}", 400, "BAD_REQUEST"],
  ["POST", "/v1/counter/1/add", '{"by":"1"}', 400, "BAD_REQUEST"],
  ["POST", "/v1/counter/1/add", undefined, 400, "BAD_REQUEST"],
  ["POST", "/v1/counter/1/add", `{"by":1,"pad":"${"x".repeat(2_000_000)}"}`, 413, "TOO_LARGE"],
  ["GET", `/v1/counter/1?${"x".repeat(9_000)}`, undefined, 414, "URL_TOO_LONG"],
])("%s %s is answered with its own code", async (method, path, body, status, code) => {
  const answer = await fleet.get(path.slice(0, 9_100), {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body }),
  });
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ error: { code } });
});

test("a body that is no JSON, or is compressed, is refused by its type", async () => {
  for (const headers of [{ "content-type": "text/plain" }, { "content-encoding": "gzip" }]) {
    const answer = await fleet.post("/v1/counter/1/add", { by: 1 }, headers);
    expect(answer.status).toBe(415);
  }
});

test("a caller may ask for less time, not for a wrong one", async () => {
  expect((await fleet.get("/v1/counter/1", { headers: { "keelson-timeout-ms": "soon" } })).status).toBe(400);
  expect((await fleet.get("/v1/counter/1", { headers: { "keelson-timeout-ms": "5000" } })).status).toBe(200);
});

test("says that it is alive and ready, and whose copy it follows", async () => {
  const { status, body } = await fleet.get("/healthz");
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "ok", ready: true, fleet: "test", staleMs: 0 });
  expect((await fleet.get("/readyz")).status).toBe(200);
});

test("describes its API, and the page that calls it needs nothing from elsewhere", async () => {
  const { body } = await fleet.get("/openapi.json");
  expect(body).toMatchObject({
    openapi: "3.1.0",
    paths: {
      "/v1/counter/{shard}/add": {
        post: {
          operationId: "counter.add",
          requestBody: {
            content: { "application/json": { schema: { properties: { by: { type: "integer" } } } } },
          },
        },
      },
    },
  });
  const page = await fleet.get("/docs");
  const policy = page.headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'");
  const parts = [
    page.body,
    (await fleet.get("/docs/page.js")).body,
    (await fleet.get("/docs/page.css")).body,
  ];
  for (const part of parts) expect(String(part)).not.toMatch(/https?:\/\//);
});

test("counts requests by operation and status, and gives a node's own metrics", async () => {
  await fleet.get("/v1/counter/4");
  const { body } = await fleet.get("/metrics");
  expect(body).toMatch(
    /keelson_gateway_requests_total\{service="counter",operation="get",status="200"\} [1-9]/,
  );
  expect(body).toContain("keelson_gateway_copy_live 1");
  const holder = fleet.holder("counter/4/0")!;
  await fleet.post("/v1/counter/4/add", { by: 2 });
  expect((await fleet.get(`/metrics/nodes/${holder}`)).body).toMatch(/counter_added_total [1-9]/);
  expect((await fleet.get("/metrics/nodes/nobody")).status).toBe(404);
});
