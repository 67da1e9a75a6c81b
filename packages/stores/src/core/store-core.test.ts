import type { ChangeBatch, Write } from "@keelson/kernel";
import { expect, test } from "vitest";
import { StoreCore, type StoreCoreOptions } from "./store-core.ts";

/** A core on a clock that the test moves. */
function open(options: Partial<StoreCoreOptions> = {}): { core: StoreCore; clock: { ms: number } } {
  const clock = { ms: 0 };
  const core = new StoreCore({
    now: () => clock.ms,
    wall: () => 1e12 + clock.ms,
    incarnation: "i",
    ...options,
  });
  return { core, clock };
}

const put = (key: string, value = "v", session?: string): Write => ({ kind: "put", key, value, session });

function collect(core: StoreCore, prefix = "", after = 0): { batches: ChangeBatch[]; ends: string[] } {
  const batches: ChangeBatch[] = [];
  const ends: string[] = [];
  core.watch(prefix, after, {
    changes: (batch) => void batches.push(batch),
    relist: (reason) => void ends.push(`relist: ${reason}`),
    closed: (reason) => void ends.push(`closed: ${reason}`),
  });
  return { batches, ends };
}

test("a session ends at its deadline and not before, and nothing acts on it afterwards", () => {
  const { core, clock } = open();
  const { session } = core.openSession(100);
  core.commit({ guards: [], writes: [put("a", "v", session), put("b", "v", session), put("c")] }, "i");
  const { batches } = collect(core, "", 1);
  clock.ms = 99.9;
  expect(core.expire()).toBe(100);
  expect(core.range("").entries).toHaveLength(3);
  clock.ms = 100;
  expect(core.commit({ guards: [], writes: [put("d", "v", session)] }, "i")).toMatchObject({
    kind: "conflict",
    gone: [session],
  });
  expect(core.renew([session])).toMatchObject({ alive: [], gone: [session] });
  expect(batches).toEqual([
    {
      revision: 2,
      incarnation: "i",
      changes: [
        { kind: "delete", key: "a", revision: 2, expired: true },
        { kind: "delete", key: "b", revision: 2, expired: true },
      ],
    },
  ]);
  expect(core.expire()).toBeUndefined();
});

test("sessions that end together end earliest first, each in its own revision", () => {
  const { core, clock } = open();
  const late = core.openSession(50).session;
  const early = core.openSession(20).session;
  core.commit({ guards: [], writes: [put("late", "v", late), put("early", "v", early)] }, "i");
  const { batches } = collect(core, "", 1);
  clock.ms = 60;
  core.expire();
  expect(
    batches.map((batch) => batch.changes.map((change) => change.kind === "delete" && change.key)),
  ).toEqual([["early"], ["late"]]);
});

test("a renewed session is not ended at the deadline it had before", () => {
  const { core, clock } = open();
  const { session } = core.openSession(100);
  clock.ms = 60;
  core.renew([session]);
  clock.ms = 159;
  expect(core.expire()).toBe(160);
  expect(core.renew([session]).alive).toEqual([session]);
});

test("a key put again without its session, or with another, outlives the first", () => {
  const { core } = open();
  const one = core.openSession(100).session;
  const two = core.openSession(100).session;
  core.commit(
    { guards: [], writes: [put("free", "v", one), put("moved", "v", one), put("stays", "v", one)] },
    "i",
  );
  core.commit({ guards: [], writes: [put("free"), put("moved", "v", two)] }, "i");
  core.revoke(one);
  expect(core.range("").entries.map(({ key, session }) => [key, session])).toEqual([
    ["free", undefined],
    ["moved", two],
  ]);
});

test("a commit that changes nothing takes no revision", () => {
  const { core } = open();
  core.commit({ guards: [], writes: [put("a")] }, "i");
  expect(core.commit({ guards: [], writes: [{ kind: "delete", key: "none" }] }, "i")).toMatchObject({
    revision: 1,
  });
  expect(core.commit({ guards: [{ key: "a", revision: 1 }], writes: [] }, "i")).toMatchObject({
    kind: "committed",
    revision: 1,
  });
});

test("a watch that commits from its sink gets its own reply, and every watch sees both in order", () => {
  const { core } = open();
  const replies: number[] = [];
  const first: number[] = [];
  core.watch("", 0, {
    changes: ({ revision }) => {
      first.push(revision);
      if (revision < 3) replies.push(core.commit({ guards: [], writes: [put("echo")] }, "i").revision);
    },
    relist: () => {},
    closed: () => {},
  });
  const second = collect(core);
  expect(core.commit({ guards: [], writes: [put("a")] }, "i").revision).toBe(1);
  expect(replies).toEqual([2, 3]);
  expect(first).toEqual([1, 2, 3]);
  expect(second.batches.map(({ revision }) => revision)).toEqual([1, 2, 3]);
});

test("a watch that begins inside a delivery misses nothing and repeats nothing", () => {
  const { core } = open();
  const inner: number[] = [];
  core.watch("", 0, {
    changes: ({ revision }) => {
      if (revision !== 1) return;
      core.commit({ guards: [], writes: [put("b")] }, "i");
      core.watch("", 0, {
        changes: (batch) => void inner.push(batch.revision),
        relist: () => {},
        closed: () => {},
      });
    },
    relist: () => {},
    closed: () => {},
  });
  core.commit({ guards: [], writes: [put("a")] }, "i");
  core.commit({ guards: [], writes: [put("c")] }, "i");
  expect(inner).toEqual([1, 2, 3]);
});

test("a closed watch gets nothing more, even from the batch at hand", () => {
  const { core } = open();
  const seen: string[] = [];
  const sink = (name: string, then: () => void) => ({
    changes: () => {
      seen.push(name);
      then();
    },
    relist: () => {},
    closed: () => {},
  });
  core.watch(
    "",
    0,
    sink("closer", () => second.close()),
  );
  const second = core.watch(
    "",
    0,
    sink("closed", () => {}),
  );
  core.commit({ guards: [], writes: [put("a")] }, "i");
  expect(seen).toEqual(["closer"]);
});

test("a watch lists again when its revision has left the history, or never was", () => {
  const { core } = open({ historyMax: 3 });
  for (let n = 0; n < 10; n += 1) core.commit({ guards: [], writes: [put("a", `${n}`)] }, "i");
  expect(collect(core, "", 6).ends).toEqual(["relist: revision 6 is too old: the history begins after 7"]);
  expect(collect(core, "", 7).batches.map(({ revision }) => revision)).toEqual([8, 9, 10]);
  expect(collect(core, "", 10)).toEqual({ batches: [], ends: [] });
  expect(collect(core, "", 11).ends).toEqual(["relist: revision 11 is above the store's 10"]);
});

test("a restored core keeps keys, revisions and sessions, and gives full TTLs", () => {
  const { core, clock } = open();
  const { session } = core.openSession(100);
  core.commit({ guards: [], writes: [put("a", "1", session), put("b", "2")] }, "i");
  clock.ms = 90;
  const snapshot = core.snapshot();
  const again = StoreCore.restore(snapshot, { now: () => clock.ms, wall: () => 0, incarnation: "i" });
  expect(again.snapshot()).toEqual({
    ...snapshot,
    sessions: [{ id: session, ttlMs: 100, remainingMs: 100 }],
  });
  expect(again.openSession(100).session).not.toBe(session);
  expect(collect(again, "", 0).ends).toHaveLength(1);
  clock.ms = 189;
  expect(again.range("").entries).toHaveLength(2);
  clock.ms = 190;
  expect(again.range("").entries.map(({ key }) => key)).toEqual(["b"]);
});

test("a core restored with what was left of each TTL, under another incarnation", () => {
  const { core, clock } = open();
  const { session } = core.openSession(100);
  clock.ms = 90;
  const again = StoreCore.restore(core.snapshot(), {
    now: () => clock.ms,
    wall: () => 0,
    incarnation: "j",
    fullTtlOnRestore: false,
  });
  expect(again.openSession(100).session.startsWith("j.")).toBe(true);
  expect(again.commit({ guards: [], writes: [put("a")] }, "i").kind).toBe("incarnation");
  clock.ms = 100;
  expect(again.renew([session]).gone).toEqual([session]);
});

test("the journal hears of sessions and changes in order, before any watch", () => {
  const heard: string[] = [];
  const { core } = open({
    journal: {
      changed: ({ revision }) => void heard.push(`changed ${revision}`),
      sessionOpened: (id, ttlMs) => void heard.push(`opened ${id} ${ttlMs}`),
      sessionEnded: (id) => void heard.push(`ended ${id}`),
    },
  });
  core.watch("", 0, {
    changes: ({ revision }) => void heard.push(`watched ${revision}`),
    relist: () => {},
    closed: () => {},
  });
  const { session } = core.openSession(100);
  core.commit({ guards: [], writes: [put("a", "v", session)] }, "i");
  core.revoke(session);
  expect(heard).toEqual(["opened i.1 100", "changed 1", "watched 1", "ended i.1", "changed 2", "watched 2"]);
});

test("held watches hear of a revision once it is released, whether it was made before they began or after", () => {
  const { core } = open({ holdWatches: true });
  const commit = (key: string) => core.commit({ guards: [], writes: [put(key)] }, "i");
  commit("a");
  const early = collect(core);
  commit("b");
  core.release(1);
  const late = collect(core);
  const revisions = () => [early, late].map(({ batches }) => batches.map(({ revision }) => revision));
  expect(revisions()).toEqual([[1], [1]]);
  commit("c");
  core.release(3);
  expect(revisions()).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
});

test("watches that are ended from inside a delivery hear of the end, and nothing after it", () => {
  const { core } = open();
  core.watch("", 0, {
    changes: () => core.endWatches("closed", "enough"),
    relist: () => {},
    closed: () => {},
  });
  const second = collect(core);
  core.commit({ guards: [], writes: [put("a")] }, "i");
  core.commit({ guards: [], writes: [put("b")] }, "i");
  expect(second).toEqual({ batches: [], ends: ["closed: enough"] });
});
