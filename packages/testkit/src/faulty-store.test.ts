import type { Commit, Store, Write } from "@keelson/kernel";
import { MemoryStore } from "@keelson/stores/memory";
import { beforeEach, expect, test } from "vitest";
import { FaultyStore } from "./faulty-store.ts";
import { ManualClock } from "./manual-clock.ts";

let clock: ManualClock;
let memory: MemoryStore;
let faulty: FaultyStore;
let incarnation: string;
const call = { timeoutMs: 1000 };

beforeEach(async () => {
  clock = new ManualClock();
  memory = new MemoryStore({ clock, random: Math.random });
  faulty = new FaultyStore(memory, clock);
  ({ incarnation } = await memory.range("", call));
});

const put = (key: string): Commit => ({ guards: [], writes: [{ kind: "put", key, value: "v" }] });
const commit = (key: string, store: Store = faulty) => store.commit(put(key), { ...call, incarnation });
const keys = async (): Promise<string[]> => (await memory.range("", call)).entries.map(({ key }) => key);
const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "answered",
    (error: unknown) => (error as { code: string }).code,
  );

test("without rules every call goes through", async () => {
  expect((await commit("/a")).kind).toBe("committed");
  const { session } = await faulty.openSession(500, call);
  expect((await faulty.renew([session], call)).alive).toEqual([session]);
  await faulty.revoke(session, call);
  expect((await faulty.range("", call)).entries).toHaveLength(1);
});

test("a call that fails before is not carried out; one that fails after is", async () => {
  const before = faulty.inject({ calls: ["commit"], fault: { kind: "fail", side: "before" }, times: 1 });
  const after = faulty.inject({
    calls: ["commit", "range"],
    fault: { kind: "fail", side: "after" },
    times: 2,
  });
  expect(await outcome(commit("/a"))).toBe("STORE_UNAVAILABLE");
  expect(await outcome(commit("/b"))).toBe("STORE_UNKNOWN");
  expect(await outcome(faulty.range("", call))).toBe("STORE_UNAVAILABLE");
  expect(await outcome(commit("/c"))).toBe("answered");
  expect(await keys()).toEqual(["/b", "/c"]);
  expect([before.hits, after.hits]).toEqual([1, 2]);
});

test("a rule strikes the calls that it picks, with the error that it names", async () => {
  const writes = (writes: readonly Write[], key: string): boolean =>
    writes.some((write) => write.key === key);
  faulty.inject({
    calls: ["commit"],
    fault: { kind: "fail", side: "before", error: new TypeError("mine") },
    when: (subject) => subject.call === "commit" && writes(subject.commit.writes, "/b"),
  });
  await commit("/a");
  await expect(commit("/b")).rejects.toThrow(new TypeError("mine"));
  expect(await keys()).toEqual(["/a"]);
});

test("a call held before is carried out when it is let go, even after its caller has given up", async () => {
  const rule = faulty.inject({ calls: ["commit"], fault: { kind: "hold", side: "before" }, times: 2 });
  const first = outcome(commit("/a"));
  await clock.advance(10);
  expect([rule.held, await keys()]).toEqual([1, []]);
  rule.release();
  expect([await first, await keys()]).toEqual(["answered", ["/a"]]);
  const second = outcome(commit("/b"));
  await clock.advance(1000);
  expect([await second, await keys()]).toEqual(["STORE_UNKNOWN", ["/a"]]);
  rule.release();
  await clock.advance(0);
  expect([rule.held, await keys()]).toEqual([0, ["/a", "/b"]]);
});

test("a call held after is carried out, and its answer waits", async () => {
  const rule = faulty.inject({ calls: ["commit", "range"], fault: { kind: "hold", side: "after" } });
  const writing = outcome(commit("/a"));
  const reading = outcome(faulty.range("", call));
  await clock.advance(10);
  expect([rule.held, await keys()]).toEqual([2, ["/a"]]);
  await clock.advance(1000);
  expect([await writing, await reading]).toEqual(["STORE_UNKNOWN", "STORE_UNAVAILABLE"]);
  const later = outcome(commit("/b"));
  await clock.advance(10);
  faulty.heal();
  expect(await later).toBe("answered");
  expect(await outcome(commit("/c"))).toBe("answered");
});

test("a delayed call takes its time, before or after", async () => {
  const rule = faulty.inject({
    calls: ["commit"],
    fault: { kind: "delay", side: "before", ms: 100 },
    times: 1,
  });
  faulty.inject({ calls: ["commit"], fault: { kind: "delay", side: "after", ms: 100 }, times: 1 });
  const told: string[] = [];
  void commit("/late").then(() => told.push("/late"));
  void commit("/slow").then(() => told.push("/slow"));
  await clock.advance(99);
  expect([rule.hits, told, await keys()]).toEqual([1, [], ["/slow"]]);
  await clock.advance(2);
  expect([told.toSorted(), await keys()]).toEqual([
    ["/late", "/slow"],
    ["/late", "/slow"],
  ]);
  expect(clock.timers).toBe(0);
});

test("a repeated call is carried out again, and the last answer counts", async () => {
  faulty.inject({ calls: ["commit", "openSession"], fault: { kind: "repeat", times: 2 } });
  const create: Commit = { ...put("/a"), guards: [{ key: "/a", revision: 0 }] };
  expect((await faulty.commit(create, { ...call, incarnation })).kind).toBe("conflict");
  expect((await commit("/a")).revision).toBe(3);
});

function watch(): { told: string[]; close: () => void } {
  const told: string[] = [];
  const watching = faulty.watch("/", 0, {
    changes: ({ revision }) => void told.push(`${revision}`),
    relist: () => void told.push("relist"),
    closed: (reason) => void told.push(`closed: ${reason}`),
  });
  return { told, close: () => watching.close() };
}

test("held deliveries keep their order and hold up those that follow", async () => {
  const rule = faulty.inject({
    calls: ["deliver"],
    fault: { kind: "hold", side: "before" },
    when: (subject) => subject.call === "deliver" && subject.batch.revision === 2,
  });
  const { told } = watch();
  await commit("/a");
  await commit("/b");
  await commit("/c");
  await clock.advance(10);
  expect([told, rule.held]).toEqual([["1"], 1]);
  rule.release();
  await clock.advance(0);
  expect(told).toEqual(["1", "2", "3"]);
  await commit("/d");
  await clock.advance(0);
  expect(told.at(-1)).toBe("4");
});

test("deliveries can be repeated, and a failed one ends the watch", async () => {
  const on = (revision: number) => ({
    calls: ["deliver"] as const,
    when: (subject: { call: string; batch?: { revision: number } }) => subject.batch?.revision === revision,
  });
  faulty.inject({ ...on(1), fault: { kind: "repeat", times: 2 } });
  faulty.inject({ ...on(2), fault: { kind: "fail", side: "before" } });
  const { told } = watch();
  for (const key of ["/a", "/b", "/c"]) {
    // oxlint-disable-next-line no-await-in-loop -- in order.
    await commit(key);
  }
  await clock.advance(0);
  expect(told).toEqual(["1", "1", "closed: the connection was lost (injected)"]);
});

test("a watch can fail to begin, begin late, or be closed while it waits", async () => {
  faulty.inject({ calls: ["watch"], fault: { kind: "fail", side: "before" }, times: 1 });
  const failed = watch();
  const rule = faulty.inject({ calls: ["watch"], fault: { kind: "hold", side: "before" } });
  const late = watch();
  const closed = watch();
  await commit("/a");
  await clock.advance(0);
  closed.close();
  expect([failed.told, late.told]).toEqual([["closed: the connection was lost (injected)"], []]);
  rule.release();
  await clock.advance(0);
  expect([late.told, closed.told]).toEqual([["1"], []]);
});
