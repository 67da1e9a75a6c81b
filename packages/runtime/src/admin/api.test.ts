import { terms } from "@keelson/kernel";
import { TestFleet } from "@keelson/testkit";
import { ring, type Shard } from "@keelson/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fleetMirror } from "../mirror/fleet-mirror.ts";
import type { Mirror } from "../mirror/mirror.ts";
import { definePlugin } from "../plugin/plugin.ts";
import type { AnyRoute } from "../plugin/route.ts";
import { defineService } from "../service/service.ts";
import { z } from "zod";
import { fleetApi, type Api } from "./api.ts";
import { LocalAdmin } from "./local-admin.ts";

const echo = defineService({
  name: "echo",
  parameters: { shards: 4, replicas: 1, placement: {} },
  placement: ring({ service: "echo" }),
  open: (): Promise<Shard> => Promise.resolve({ handle: ({ body }) => Promise.resolve(body) }),
});

let fleet: TestFleet;
let mirror: Mirror;
let api: Api;

beforeAll(async () => {
  fleet = await TestFleet.start({ services: [echo], nodes: 2 });
  const { clock } = fleet;
  const store = fleet.store.connect();
  mirror = fleetMirror("test", { store, clock, random: Math.random }, terms());
  const report = {
    node: "a",
    pid: 1,
    uptimeMs: 1,
    cpuMs: 1,
    rssBytes: 1,
    inflight: 0,
    requests: 1,
    refused: 0,
    phases: { live: 2 },
    at: 0,
  };
  const ask = {
    report: (address: string): Promise<typeof report> =>
      address === "a" ? Promise.resolve(report) : Promise.reject(new Error("silent")),
    decisions: (address: string, replica: string) =>
      Promise.resolve(fleet.nodes.get(address)?.decisions.of(replica) ?? []),
  };
  api = fleetApi(new LocalAdmin({ fleet: "test", mirror, store, clock, random: Math.random, ask }));
  mirror.start();
});

afterAll(async () => {
  mirror.stop();
  await fleet.stop();
});

interface Asked {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** As a gateway calls a route: checked input, and an answer that went through JSON. */
async function call(name: string, asked: Asked = {}): Promise<unknown> {
  const route: AnyRoute = api.http![name]!;
  const input = {
    params: route.params?.parse(asked.params ?? {}),
    query: route.query?.parse(asked.query ?? {}),
    body: route.body?.parse(asked.body ?? {}),
  };
  if (route.to.kind !== "custom") throw new Error("not a custom route");
  const principal = { name: "token", scope: "admin" } as const;
  const signal = new AbortController().signal;
  const answer = await (route.to.handle(input, {
    principal,
    signal,
    timeoutMs: 1_000,
    trace: undefined,
    access: undefined as never,
  }) as Promise<unknown>);
  return JSON.parse(JSON.stringify(answer)) as unknown;
}

test("is a plug-in without a service; looking needs the scope read, changing something admin", () => {
  expect(() => definePlugin({ ...api, config: z.object({}), service: () => echo })).not.toThrow();
  for (const { scope, mode } of Object.values(api.http!))
    expect(scope).toBe(mode === "write" ? "admin" : "read");
});

test.each<[string, Asked]>([
  ["status", {}],
  ["nodes", { query: { reports: "true" } }],
  ["shards", { query: { limit: "3" } }],
  ["explain", { params: { service: "echo", shard: "1" } }],
  ["plan", { query: { without: "a" } }],
  ["events", {}],
  ["doctor", {}],
  ["drain", { params: { node: "b" }, body: { reason: "new disk" } }],
  ["status", {}],
  ["undrain", { params: { node: "b" } }],
  ["unpin", { params: { service: "echo", shard: "1" } }],
  ["retry", { params: { service: "echo", shard: "1" } }],
])("the answer of %s is what its schema says, and nothing besides", async (name, asked) => {
  const answer = await call(name, asked);
  expect(api.http![name]!.answer.parse(answer)).toEqual(answer);
});

test("a refusal has a code that the API lists", async () => {
  const refused = call("pin", { params: { service: "echo", shard: "1" }, body: { node: "a" } });
  const { code } = (await refused.catch((error: unknown) => error)) as { code: string };
  expect(api.errors?.[code]).toMatchObject({ status: 409 });
});

test("events are followed as they happen", async () => {
  const route = api.http!["eventStream"]!;
  if (route.to.kind !== "custom") throw new Error("not a custom route");
  const leave = new AbortController();
  const items = route.to.handle({}, {
    principal: { name: "token", scope: "admin" },
    signal: leave.signal,
  } as never) as AsyncIterable<{ text: string }>;
  await call("drain", { params: { node: "a" }, body: { reason: "", by: "ann" } });
  for await (const { text } of items) {
    if (text !== "a is to be drained, says ann") continue;
    leave.abort();
  }
  await call("undrain", { params: { node: "a" } });
  expect(leave.signal.aborted).toBe(true);
});
