import { StoreError, type Renewal } from "@keelson/kernel";
import { expect, test } from "vitest";
import { RenewalGroup } from "./renewal-group.ts";

const DEAD = "dead";

/** A store in which every session lives but one, and what was asked of it. */
function scene(): { group: RenewalGroup; calls: { sessions: readonly string[]; timeoutMs: number }[] } {
  const calls: { sessions: readonly string[]; timeoutMs: number }[] = [];
  const group = new RenewalGroup((sessions, { timeoutMs }): Promise<Renewal> => {
    calls.push({ sessions, timeoutMs });
    return Promise.resolve({
      alive: sessions.filter((session) => session !== DEAD),
      gone: sessions.filter((session) => session === DEAD),
      revision: 7,
      incarnation: "i",
    });
  });
  return { group, calls };
}

test("renewals of one moment are one call, and each is told of its own sessions", async () => {
  const { group, calls } = scene();
  const renewals = await Promise.all([
    group.renew(["a", "b"], { timeoutMs: 100 }),
    group.renew(["c", DEAD], { timeoutMs: 100 }),
    group.renew(["e"], { timeoutMs: 100 }),
  ]);
  expect(calls).toEqual([{ sessions: ["a", "b", "c", DEAD, "e"], timeoutMs: 100 }]);
  const reply = { revision: 7, incarnation: "i" };
  expect(renewals).toEqual([
    { alive: ["a", "b"], gone: [], ...reply },
    { alive: ["c"], gone: [DEAD], ...reply },
    { alive: ["e"], gone: [], ...reply },
  ]);
});

test("a later renewal does not wait for one that is under way", async () => {
  const { group, calls } = scene();
  await group.renew(["a"], { timeoutMs: 100 });
  await group.renew(["a"], { timeoutMs: 100 });
  expect(calls.map(({ sessions }) => sessions)).toEqual([["a"], ["a"]]);
});

test("a call has at most as many sessions as a store takes, and those of one renewal stay together", async () => {
  const { group, calls } = scene();
  const asked = Array.from({ length: 60 }, (_, n) => [`l${n}`, `m${n}`]);
  const renewals = await Promise.all(asked.map((sessions) => group.renew(sessions, { timeoutMs: 100 })));
  expect(calls.map(({ sessions }) => sessions.length)).toEqual([100, 20]);
  expect(renewals.map(({ alive }) => alive)).toEqual(asked);
});

test("renewals with different deadlines are different calls", async () => {
  const { group, calls } = scene();
  await Promise.all([
    group.renew(["a"], { timeoutMs: 100 }),
    group.renew(["b"], { timeoutMs: 200 }),
    group.renew(["c"], { timeoutMs: 200 }),
  ]);
  expect(calls).toEqual([
    { sessions: ["a"], timeoutMs: 100 },
    { sessions: ["b", "c"], timeoutMs: 200 },
  ]);
});

test("a call that fails, fails for everybody in it", async () => {
  const failure = new StoreError("STORE_UNKNOWN", "no answer");
  const group = new RenewalGroup(() => Promise.reject(failure));
  const renewals = [group.renew(["a"], { timeoutMs: 100 }), group.renew(["b"], { timeoutMs: 100 })];
  expect(await Promise.allSettled(renewals)).toEqual([
    { status: "rejected", reason: failure },
    { status: "rejected", reason: failure },
  ]);
});
