import { beforeEach, expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import { Fence } from "../tenure/fence.ts";
import { ALL_RULES } from "../tenure/rules.ts";
import type { Tenure } from "../tenure/tenure.ts";
import { terms } from "../tenure/terms.ts";
import { HostMachine } from "./host-machine.ts";

/** What becomes of a replica whose shard the service no longer has: a service that makes its own list of shards took it off. */

const KEY = "s/7/0";
let host: HostMachine;
let now = 1_000;

function plan(...keys: string[]): void {
  const lines = new Map(keys.map((key) => [key, { candidates: [], reason: "auctioned" }]));
  host.setPlan(
    "s",
    { viewN: 1, parameters: { shards: 8, replicas: 1, placement: {} }, lines, bidders: ["a", "b"] },
    now,
  );
}

function tenure(node: string, revision: number): void {
  const value: Tenure = {
    v: 1,
    node,
    boot: `boot-${node}`,
    session: `s${node}`,
    era: 1,
    address: `${node}:1`,
    how: "grant",
    reason: "won",
    since: 0,
  };
  host.setTenure(KEY, { value, revision }, false, now);
}

function does(later = 0): string[] {
  now += later;
  return host
    .step(now)
    .filter((action) => action.kind !== "decided")
    .map((action) => (action.kind === "commit" ? action.purpose : action.kind));
}

beforeEach(() => {
  now = 1_000;
  host = new HostMachine({
    self: { node: "a", boot: "boot-a", address: "a:1" },
    keys: new Keys("f"),
    terms: terms(),
    rules: ALL_RULES,
    random: () => 0.5,
    wall: () => 0,
    services: new Map([["s", { builds: true, primary: false, grants: "auction" as const }]]),
  });
  host.setEra({ era: 1, revision: 3 });
  const fence = new Fence("sa");
  fence.extend(1e9);
  host.setSession({ id: "sa", role: "liveness", era: 1, fence });
  plan(KEY);
});

function live(): void {
  tenure("a", 10);
  does();
  host.prepared(KEY);
  does();
  host.activated(KEY, { era: 1, revision: 10 }, now);
  does();
}

test("a holder lets requests finish, releases, throws the data away and does not take it again", () => {
  live();
  plan();
  expect(does()).toEqual(["drain"]);
  host.drained(KEY);
  expect(does()).toEqual(["close"]);
  host.closed(KEY);
  expect(does()).toEqual(["release"]);
  host.setTenure(KEY, undefined, false, now);
  host.committed("release", KEY, { era: 1, revision: 10 }, "committed", now);
  expect(does()).toEqual(["discard"]);
  expect(does(60_000)).toEqual([]);
});

test("a holder whose shard came back while it drained serves on", () => {
  live();
  plan();
  does();
  plan(KEY);
  host.drained(KEY);
  expect(does()).toEqual(["live"]);
  expect(host.local(KEY)?.hold?.phase).toBe("live");
});

test("what was granted and is still being built is released and its build is ended", () => {
  tenure("a", 10);
  expect(does()).toEqual(["prepare"]);
  plan();
  expect(does()).toEqual(["release"]);
  host.setTenure(KEY, undefined, false, now);
  expect(does()).toEqual(["cancel"]);
});

test("a contender gives up what the service no longer has", () => {
  tenure("x", 10);
  host.setAward(
    KEY,
    {
      value: { v: 1, node: "a", session: "sa", from: "x", fromSession: "sx", reason: "won it" },
      revision: 11,
    },
    now,
  );
  expect(does()).toEqual(["contend", "prepare"]);
  plan();
  expect(does()).toEqual([]);
  host.committed("contend", KEY, undefined, "committed", now);
  const value = {
    v: 1,
    phase: "preparing",
    progress: 0,
    boot: "boot-a",
    session: "sa",
    address: "a:1",
  } as const;
  host.setContender(KEY, "a", { value, revision: 12 }, now);
  expect(does()).toEqual(["withdraw"]);
});
