import { describe, expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import type { Contender, Primary, Tenure } from "../tenure/tenure.ts";
import { RouteTable } from "./route-table.ts";

const keys = new Keys("test");
const parsed = (key: string) => keys.parse(key)!;
const tenureKey = (replica: string) => parsed(keys.tenure(replica));

const tenure = (node: string, era = 1): Tenure => ({
  v: 1,
  node,
  boot: "b",
  session: `session-of-${node}`,
  era,
  address: `${node}:1`,
  how: "grant",
  reason: "test",
  since: 0,
});
const primary = (node: string, replica: number): Primary => ({
  v: 1,
  node,
  replica,
  session: `session-of-${node}`,
  era: 1,
  address: `${node}:1`,
});
const contender = (phase: Contender["phase"], progress: number): Contender => ({
  v: 1,
  phase,
  progress,
  boot: "b",
  session: "s",
  address: "x:1",
});
const member = (node: string, services: string[]) => ({ node, services });

describe("RouteTable", () => {
  test("finds the holder of a replica, with the epoch of its tenure", () => {
    const table = new RouteTable();
    table.put(tenureKey("jobs/7/0"), tenure("a", 2), 40);
    expect(table.lookup("jobs", "7")).toEqual({
      node: "a",
      address: "a:1",
      replica: 0,
      session: "session-of-a",
      epoch: { era: 2, revision: 40 },
    });
    expect(table.lookup("jobs", "7", 1)).toBeUndefined();
    expect(table.lookup("jobs", "8")).toBeUndefined();
    expect(table.lookup("logs", "7")).toBeUndefined();
  });

  test("knows shards by their own ids, not by their encoded ones", () => {
    const table = new RouteTable();
    table.put(tenureKey("code/github.com%2Fa%2Fb/0"), tenure("a"), 1);
    expect(table.lookup("code", "github.com/a/b")?.node).toBe("a");
  });

  test("tells services apart when they are asked in turn", () => {
    const table = new RouteTable();
    const ask = (service: string): string | undefined => table.lookup(service, "1")?.node;
    table.put(tenureKey("jobs/1/0"), tenure("a"), 1);
    expect(ask("logs")).toBeUndefined();
    table.put(tenureKey("logs/1/0"), tenure("b"), 2);
    expect([ask("logs"), ask("jobs"), ask("logs")]).toEqual(["b", "a", "b"]);
  });

  test("lists holders in the order of replicas, without the holes", () => {
    const table = new RouteTable();
    table.put(tenureKey("vectors/1/2"), tenure("c"), 1);
    table.put(tenureKey("vectors/1/0"), tenure("a"), 2);
    const before = table.holders("vectors", "1");
    expect(before.map((route) => route.node)).toEqual(["a", "c"]);
    table.remove(tenureKey("vectors/1/2"));
    expect(table.holders("vectors", "1").map((route) => route.node)).toEqual(["a"]);
    expect(before).toHaveLength(2);
    expect(table.holders("vectors", "9")).toEqual([]);
  });

  test("sends writes to replica 0, and in a service with primaries to nobody but the primary", () => {
    const table = new RouteTable();
    table.put(tenureKey("vectors/1/0"), tenure("a"), 1);
    table.put(tenureKey("vectors/1/1"), tenure("b"), 2);
    expect([table.writer("vectors", "1")?.node, table.hasPrimaries("vectors")]).toEqual(["a", false]);
    table.put(parsed(keys.primary("vectors/1")), primary("b", 1), 9);
    expect(table.writer("vectors", "1")).toMatchObject({
      node: "b",
      replica: 1,
      epoch: { era: 1, revision: 9 },
    });
    table.remove(parsed(keys.primary("vectors/1")));
    expect([table.writer("vectors", "1"), table.hasPrimaries("vectors")]).toEqual([undefined, true]);
  });

  test("learns from the view that a service has primaries before it sees one", () => {
    const table = new RouteTable();
    table.put(tenureKey("vectors/1/0"), tenure("a"), 1);
    table.put(parsed(keys.view("vectors")), { parameters: { primary: true } }, 3);
    expect(table.writer("vectors", "1")).toBeUndefined();
  });

  test("does not let an older tenure or primary replace a newer one, whatever era the revisions are of", () => {
    const table = new RouteTable();
    table.put(tenureKey("jobs/1/0"), tenure("new", 2), 5);
    table.put(tenureKey("jobs/1/0"), tenure("old", 1), 900);
    expect(table.lookup("jobs", "1")?.node).toBe("new");
    table.put(parsed(keys.primary("jobs/1")), primary("new", 0), 8);
    table.put(parsed(keys.primary("jobs/1")), primary("old", 0), 7);
    expect(table.writer("jobs", "1")?.node).toBe("new");
  });

  test("calls listeners of a shard when its holders or its primary change, and for nothing else", () => {
    const table = new RouteTable();
    const heard: string[] = [];
    const stop = table.onChange("jobs", "1", () => heard.push("change"));
    table.put(tenureKey("jobs/2/0"), tenure("a"), 1);
    table.put(parsed(keys.contender("jobs/1/0", "b")), contender("preparing", 0.5), 2);
    table.remove(tenureKey("jobs/1/0"));
    expect(heard).toHaveLength(0);
    table.put(tenureKey("jobs/1/0"), tenure("a"), 3);
    table.put(parsed(keys.primary("jobs/1")), primary("a", 0), 4);
    table.remove(parsed(keys.primary("jobs/1")));
    table.remove(tenureKey("jobs/1/0"));
    expect(heard).toHaveLength(4);
    stop();
    table.put(tenureKey("jobs/1/0"), tenure("a"), 5);
    expect(heard).toHaveLength(4);
  });

  test("lets a listener stop itself, and listen again, while it is being called", () => {
    const table = new RouteTable();
    let calls = 0;
    const listen = (): void => {
      const stop = table.onChange("jobs", "1", () => {
        calls += 1;
        stop();
        listen();
      });
    };
    listen();
    table.put(tenureKey("jobs/1/0"), tenure("a"), 1);
    expect(calls).toBe(1);
    table.remove(tenureKey("jobs/1/0"));
    expect(calls).toBe(2);
  });

  test("passes over keys that do not matter here", () => {
    const table = new RouteTable();
    for (const key of [keys.era, keys.manager, keys.trouble("jobs/1")]) {
      table.put(parsed(key), { strikes: 1 }, 1);
      table.remove(parsed(key));
    }
    expect(table.lookup("jobs", "1")).toBeUndefined();
  });

  test("says why nobody can be asked", () => {
    const table = new RouteTable();
    const why = (): string => table.explainAbsence("jobs", "1");
    expect(why()).toBe("no member of the fleet is known here");
    table.put(parsed(keys.member("x")), member("x", ["logs"]), 1);
    expect(why()).toBe("no member of the fleet offers the service");
    table.put(parsed(keys.member("y")), member("y", ["jobs"]), 2);
    expect(why()).toBe("none of 1 nodes has taken it yet");
    table.put(parsed(keys.contender("jobs/1/0", "y")), contender("preparing", 0.429), 3);
    expect(why()).toBe("node y is preparing it (42 %)");
    table.put(parsed(keys.contender("jobs/1/0", "y")), contender("ready", 1), 4);
    expect(why()).toBe("node y is ready to take it over");
    table.remove(parsed(keys.contender("jobs/1/0", "y")));
    table.put(tenureKey("jobs/1/0"), tenure("a"), 5);
    expect(why()).toBe("it has no primary at the moment");
  });
});
