import { beforeEach, expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import type { HeldSession } from "../membership/session-machine.ts";
import { Fence } from "../tenure/fence.ts";
import { ALL_RULES } from "../tenure/rules.ts";
import type { Contender, Tenure } from "../tenure/tenure.ts";
import { terms } from "../tenure/terms.ts";
import { HostMachine } from "./host-machine.ts";

/** The host machine of a service that is auctioned: what it does by itself, and what it leaves to the auction. */

const KEY = "s/7/0";
const t = terms();
let host: HostMachine;
let now = 1_000;

function session(id: string, era = 1): HeldSession {
  const fence = new Fence(id);
  fence.extend(1e9);
  return { id, role: "liveness", era, fence };
}

function plan(...bidders: string[]): void {
  const lines = new Map([[KEY, { candidates: [], reason: "auctioned" }]]);
  const parameters = { shards: 8, replicas: 1, placement: {} };
  host.setPlan("s", { viewN: 1, parameters, lines, bidders }, now);
}

function tenure(node: string, revision: number, id = `s${node}`): void {
  const value: Tenure = {
    v: 1,
    node,
    boot: `boot-${node}`,
    session: id,
    era: 1,
    address: `${node}:1`,
    how: "grant",
    reason: "won",
    since: 0,
  };
  host.setTenure(KEY, { value, revision }, false, now);
}

function contender(node: string, phase: Contender["phase"], revision: number): void {
  const value: Contender = {
    v: 1,
    phase,
    progress: 0,
    boot: `boot-${node}`,
    session: `s${node}`,
    address: `${node}:1`,
  };
  host.setContender(KEY, node, { value, revision }, now);
}

function award(node: string, fromSession: string, revision: number): void {
  const value = { v: 1, node, session: `s${node}`, from: "x", fromSession, reason: "won it" } as const;
  host.setAward(KEY, { value, revision }, now);
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
    terms: t,
    rules: ALL_RULES,
    random: () => 0.5,
    wall: () => 0,
    services: new Map([["s", { builds: true, primary: false, grants: "auction" as const }]]),
  });
  host.setEra({ era: 1, revision: 3 });
  host.setSession(session("sa"));
  plan("a", "b");
});

/** Holds it, live. */
function live(revision: number): void {
  tenure("a", revision);
  expect(does()).toContain("prepare");
  host.prepared(KEY);
  expect(does()).toContain("activate");
  host.activated(KEY, { era: 1, revision }, now);
  does();
}

test("nobody grants itself what it has not got ready, however long it is unheld", () => {
  award("a", "nobody's", 5);
  expect(does()).toEqual([]);
  expect(does(60_000)).toEqual([]);
});

test("a tenure that an auction granted is adopted, prepared and served", () => {
  live(10);
  expect(host.local(KEY)?.hold?.phase).toBe("live");
  expect(host.lineOf(KEY, "s")?.candidates).toEqual(["a"]);
});

test("a node that lost its tenure and still has the data grants itself again, with no auction", () => {
  live(10);
  host.setTenure(KEY, undefined, true, now);
  host.setSession(session("sa2"));
  expect(does()).toEqual(["close", "grant"]);
});

test("a node that hears of its session's end before its tenure's keeps the data, and grants itself again", () => {
  live(10);
  host.setSession(undefined);
  expect(does()).toEqual(["close"]);
  host.closed(KEY);
  host.setSession(session("sa2"));
  expect(does(100)).toEqual([]);
  host.setTenure(KEY, undefined, true, now);
  expect(does()).toEqual(["grant"]);
});

test("a node whose era is over keeps the data while the copy of the store has its tenure still", () => {
  live(10);
  host.setEra(undefined);
  expect(does()).toEqual(["close"]);
  host.closed(KEY);
  expect(does(100)).toEqual([]);
  host.setTenure(KEY, undefined, true, now);
  host.setEra({ era: 2, revision: 20 });
  host.setSession(session("sa2", 2));
  expect(does()).toEqual(["grant"]);
});

test("what another was granted meanwhile is let go of", () => {
  live(10);
  host.setSession(undefined);
  expect(does()).toEqual(["close"]);
  host.closed(KEY);
  tenure("b", 11);
  expect(does()).toEqual(["discard"]);
});

test("it lets a ready contender go first", () => {
  live(10);
  contender("b", "ready", 11);
  host.setTenure(KEY, undefined, true, now);
  host.setSession(session("sa2"));
  expect(does()).toEqual(["close"]);
  expect(does(t.takeoverStepMs)).toEqual(["grant"]);
});

test("the target of an award contends, prepares, and takes over by rank when the holder is lost meanwhile", () => {
  tenure("x", 10);
  award("a", "sx", 11);
  expect(does()).toEqual(["contend", "prepare"]);
  host.committed("contend", KEY, undefined, "committed", now);
  contender("a", "preparing", 12);
  does();
  host.setTenure(KEY, undefined, true, now);
  expect(does(5_000)).toEqual([]);
  host.prepared(KEY);
  expect(does()).toEqual(["grant"]);
});

test("a node that was started anew does not contend for what its former self still has", () => {
  tenure("a", 10, "the session of its former self");
  expect(does(1_000)).toEqual([]);
  award("a", "the session of its former self", 11);
  expect(does()).toEqual(["contend", "prepare"]);
});

test("a contender that has nothing built withdraws when the holder is gone, so that an auction can find another", () => {
  tenure("x", 10);
  award("a", "sx", 11);
  does();
  host.committed("contend", KEY, undefined, "committed", now);
  contender("a", "preparing", 12);
  host.prepareFailed(KEY, "no memory", now);
  does();
  host.setTenure(KEY, undefined, true, now);
  expect(does(5_000)).toEqual(["withdraw"]);
});

test("the holder hands over to the award's target once that is ready, and to nobody else", () => {
  live(10);
  contender("c", "ready", 11);
  expect(does()).toEqual([]);
  award("b", "sa", 12);
  expect(does()).toEqual([]);
  contender("b", "ready", 13);
  expect(does()).toEqual(["drain"]);
  host.drained(KEY);
  expect(does()).toEqual(["hand-over"]);
});

test("an award that names another holder's session is void", () => {
  live(10);
  award("b", "an older session of a", 12);
  contender("b", "ready", 13);
  expect(does()).toEqual([]);
  expect(host.lineOf(KEY, "s")?.candidates).toEqual(["a"]);
});

test("a leaving holder waits for a contender while others may bid, and then releases", () => {
  live(10);
  plan("b");
  host.leave(now);
  expect(does(t.leaveReadyMs - 1)).toEqual([]);
  expect(does(1)).toEqual(["close"]);
});

test("the last bidder leaves at once", () => {
  live(10);
  plan();
  host.leave(now);
  expect(does()).toEqual(["close"]);
});
