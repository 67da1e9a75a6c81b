import { ring } from "@keelson/kernel";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ManualClock } from "@keelson/testkit";
import { defineService } from "../service/service.ts";
import { MetricSet } from "./metrics.ts";
import { NodeServices } from "./node-services.ts";
import { definePlugin, type AnyPlugin } from "./plugin.ts";
import { route } from "./route.ts";

const service = () =>
  defineService({
    name: "thing",
    parameters: { shards: 1, replicas: 1, placement: {} },
    placement: ring({ service: "thing" }),
    open: () => Promise.resolve({ handle: () => Promise.resolve(1) }),
  });

const get = route({
  verb: "GET",
  path: "/{id}",
  summary: "Get a thing",
  params: z.object({ id: z.string() }),
  answer: z.object({}),
  scope: "read",
  mode: "read",
  to: { kind: "one", shard: ({ params }) => params.id },
});

function plugin(change: Partial<AnyPlugin>): AnyPlugin {
  const base = { name: "thing", about: "a thing", config: z.object({}), service, http: { get } };
  return definePlugin({ ...base, ...change });
}

describe("a plug-in that cannot work is refused where it is declared", () => {
  const bad: [string, Partial<AnyPlugin>, string][] = [
    ["name", { name: "no/slash" }, "plug-in name"],
    ["path", { http: { get: { ...get, path: "things" } } }, "is not like"],
    ["parameters", { http: { get: { ...get, path: "/{other}" } } }, "name different parameters"],
    ["twice", { http: { get, again: { ...get, path: "/{id}" } } }, "are both GET"],
    ["body of a GET", { http: { get: { ...get, body: z.object({}) } } }, "has no body"],
    ["GET that writes", { http: { get: { ...get, mode: "write" } } }, "does not write"],
    ["unscoped write", { http: { put: { ...get, verb: "PUT", mode: "write" } } }, "scope write"],
    ["page", { console: [{ id: "p", title: "P", about: "p", reads: ["none"] }] }, "which there is not"],
    ["status", { errors: { ODD: { status: 200, about: "odd" } } }, "not 400 to 599"],
  ];
  test.each(bad)("%s", (_, change, message) => {
    expect(() => plugin(change)).toThrow(message);
  });
});

describe("a node opens plug-ins", () => {
  const open = (one: AnyPlugin, more: object = {}): Promise<NodeServices> =>
    NodeServices.open({
      plugins: [one],
      fleet: "test",
      node: "a",
      address: "a:1",
      zone: "",
      config: {},
      log: pino({ level: "silent" }),
      clock: new ManualClock(),
      random: Math.random,
      ...more,
    });

  test("with their own section of the configuration, defaults filled in", async () => {
    let seen: unknown;
    const one = plugin({
      config: z.object({ size: z.int().default(7) }),
      service: (context) => {
        seen = context.config;
        return service();
      },
    });
    await open(one);
    expect(seen).toEqual({ size: 7 });
    await open(one, { config: { thing: { size: 9 } } });
    expect(seen).toEqual({ size: 9 });
    await expect(open(one, { config: { thing: { size: "x" } } })).rejects.toThrow("[thing]");
  });

  test("and refuses one that needs what the node has not", async () => {
    await expect(open(plugin({ needs: ["objects"] }))).rejects.toThrow("--objects");
    await expect(open(plugin({ needs: ["data"] }))).rejects.toThrow("--data");
  });

  test("and gives nothing that was not asked for", async () => {
    const greedy = plugin({ service: ({ dataFolder }) => ({ ...service(), labels: dataFolder }) });
    await expect(open(greedy, { dataFolder: () => "/tmp" })).rejects.toThrow(
      "without saying that it needs it",
    );
  });

  test("and stops all of them, whatever one of them throws", async () => {
    let stopped = 0;
    const one = plugin({
      service: () => ({
        ...service(),
        stop: () => {
          stopped += 1;
          return Promise.reject(new Error("stuck"));
        },
      }),
    });
    await expect((await open(one)).stop()).rejects.toThrow("stuck");
    expect(stopped).toBe(1);
  });
});

test("metrics that were not declared cannot be counted", async () => {
  const metrics = new MetricSet({
    things_total: { kind: "counter", help: "Things.", labels: ["colour"] },
    thing_seconds: { kind: "histogram", help: "Time.", buckets: [1, 2] },
    things: { kind: "gauge", help: "Now." },
  });
  metrics.count("things_total", { colour: "red" }, 2);
  metrics.counter("things_total", { colour: "red" })();
  metrics.observe("thing_seconds", 1.5);
  metrics.gaugeFrom("things", () => 5);
  expect(() => metrics.count("others_total")).toThrow("there is no counter others_total");
  expect(() => metrics.set("things_total", 1)).toThrow("there is no gauge things_total");
  const text = await metrics.registry.metrics();
  expect(text).toContain('things_total{colour="red"} 3');
  expect(text).toContain('thing_seconds_bucket{le="2"} 1');
  expect(text).toContain("things 5");
});
