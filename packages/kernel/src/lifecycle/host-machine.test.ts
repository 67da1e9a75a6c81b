import { beforeEach, describe, expect, test } from "vitest";
import type { Tenure } from "../tenure/tenure.ts";
import { Bench, KEY, session, t } from "./fixtures/host-bench.ts";

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});

describe("grant", () => {
  test("the first candidate creates an absent tenure at once, guarded on absence and the open era", () => {
    bench.plan("a", "b");
    expect(bench.kinds()).toEqual(["grant"]);
    const [action] = bench.actions;
    expect(action?.kind === "commit" && action.commit.guards).toEqual([
      { key: "/keelson/f/fleet/era", revision: 3 },
      { key: "/keelson/f/tenure/s/7/0", revision: 0 },
    ]);
    expect(action?.kind === "commit" && action.commit.writes[0]).toMatchObject({ session: "sa" });
  });

  describe.each([
    ["lost", t.takeoverStepMs, 2],
    ["never seen held", 4 * t.takeoverStepMs, 10],
  ])("of what was %s, by a lower rank", (how, stepMs, patienceSteps) => {
    function absent(...candidates: string[]): void {
      bench.plan(...candidates);
      if (how === "lost") bench.tenure("d", 9);
      bench.step();
      if (how === "lost") bench.noTenure(true);
      bench.step();
    }

    test("waits a step for each candidate before it", () => {
      absent("b", "c", "a");
      expect(bench.kinds(stepMs)).toEqual([]);
      expect(bench.kinds(stepMs - 1)).toEqual([]);
      expect(bench.kinds(1)).toEqual(["grant"]);
    });

    test("waits for one before it that is taking others, but not for ever", () => {
      absent("b", "a");
      const b = {
        v: 1,
        node: "b",
        boot: "boot-b",
        session: "sb",
        era: 1,
        address: "b:1",
        how: "grant",
      } as const;
      for (let half = 0; half < 2 * patienceSteps + 1; half++) {
        expect(bench.kinds(stepMs / 2)).toEqual([]);
        const value = { ...b, reason: "", since: 0 };
        bench.machine.setTenure(`s/1${half}/0`, { value, revision: 20 + half }, false, bench.now);
      }
      expect(bench.kinds(stepMs / 2 - 1)).toEqual([]);
      expect(bench.kinds(1)).toEqual(["grant"]);
    });

    test("begins its wait anew when it stood still", () => {
      absent("b", "a");
      expect(bench.kinds(stepMs + t.takeoverStepMs)).toEqual([]);
      expect(bench.kinds(stepMs - 1)).toEqual([]);
      expect(bench.kinds(1)).toEqual(["grant"]);
    });
  });

  test("is not looked at again before its outcome is known", () => {
    bench.plan("a", "b");
    expect(bench.kinds()).toEqual(["grant"]);
    expect(bench.machine.wakeAt()).toBeUndefined();
    bench.report("grant", "unknown");
    bench.step();
    expect(bench.machine.wakeAt()).toBeGreaterThan(bench.now);
  });

  test("waits longer each time it conflicts with what has not yet been heard of", () => {
    bench.plan("a", "b");
    expect(bench.kinds()).toEqual(["grant"]);
    const waits = [1, 2, 3].map(() => {
      bench.report("grant", "conflict");
      bench.step();
      const waitMs = (bench.machine.wakeAt() ?? 0) - bench.now;
      expect(bench.kinds(waitMs)).toEqual(["grant"]);
      return waitMs;
    });
    expect(waits[1]).toBeGreaterThan(waits[0]!);
    expect(waits[2]).toBeGreaterThan(waits[1]!);
  });

  test("a ready contender goes before the plan's order", () => {
    bench.plan("a", "b").tenure("d", 8).contender("b", "ready", 9);
    bench.machine.step(bench.now);
    bench.noTenure(true);
    expect(bench.kinds()).toEqual([]);
    expect(bench.kinds(t.takeoverStepMs)).toEqual(["grant"]);
  });

  test("nothing is granted while the era is closed, without a session, or past its deadline", () => {
    bench.machine.setEra(undefined);
    bench.plan("a");
    expect(bench.kinds()).toEqual([]);
    bench.machine.setEra({ era: 1, revision: 3 });
    bench.machine.setSession(undefined);
    expect(bench.kinds()).toEqual([]);
    const lapsed = session("sb");
    lapsed.fence.end();
    bench.machine.setSession(lapsed);
    expect(bench.kinds()).toEqual([]);
  });

  test("what waits for a session is not looked at again and again, but as soon as a renewal came", () => {
    const lapsed = session("sa");
    lapsed.fence.end();
    bench.machine.setSession(undefined);
    bench.machine.setSession(lapsed);
    bench.plan("a");
    expect(bench.kinds()).toEqual([]);
    expect(bench.machine.wakeAt()).toBeUndefined();
    lapsed.fence.extend(1e9);
    expect(bench.kinds(1)).toEqual(["grant"]);
  });

  test("what a lower rank stands by for is told of when it is asked about, and taken over all the same", () => {
    bench.plan("b", "a");
    expect(bench.machine.local(KEY)).toMatchObject({ key: KEY, hold: undefined });
    expect([...bench.machine.locals()]).toEqual([]);
    expect(bench.kinds(4 * t.takeoverStepMs - 1)).toEqual([]);
    expect(bench.kinds(1)).toEqual(["grant"]);
  });

  test("plans that change again and again do not put off a lower rank for ever", () => {
    const found: string[] = [];
    for (let n = 0; n < 30 && found.length === 0; n++) {
      bench.plan("b", "a");
      found.push(...bench.kinds(2 * t.takeoverStepMs));
    }
    expect(found).toEqual(["grant"]);
  });

  test("a lower rank that a new plan puts first goes ahead at once", () => {
    bench.plan("b", "a");
    expect(bench.kinds()).toEqual([]);
    bench.plan("a", "b");
    expect(bench.kinds()).toEqual(["grant"]);
  });

  test("a lower rank that a new plan leaves out takes nothing over", () => {
    bench.plan("b", "a");
    expect(bench.kinds()).toEqual([]);
    bench.plan("b", "c");
    expect(bench.kinds(10 * t.takeoverStepMs)).toEqual([]);
  });

  test("a grant that landed late is adopted, once", () => {
    bench.plan("a");
    bench.step();
    bench.report("grant", "unknown");
    bench.live(20);
    expect(bench.phase()).toBe("live");
    bench.tenure("a", 20);
    expect(bench.kinds()).toEqual([]);
  });

  test("another node's tenure, or one of a former session or boot of ours, is not adopted", () => {
    bench.plan("b").tenure("b", 20);
    expect(bench.kinds()).toEqual([]);
    const value: Tenure = {
      v: 1,
      node: "a",
      boot: "older",
      session: "sa",
      era: 1,
      address: "",
      how: "grant",
      reason: "",
      since: 0,
    };
    bench.machine.setTenure(KEY, { value, revision: 21 }, false, bench.now);
    bench.step();
    expect(bench.phase()).toBeUndefined();
  });

  test("a takeover soon after the last grant carries a strike, and many strikes delay the next", () => {
    bench.plan("b", "a").tenure("b", 20);
    bench.step();
    bench.now += 5_000;
    bench.noTenure(true);
    bench.plan("a");
    bench.step();
    const [grant] = bench.actions;
    expect(grant?.kind === "commit" && grant.commit.writes.map((w) => w.key)).toContain(
      "/keelson/f/trouble/s/7",
    );
    bench.machine.committed("grant", KEY, undefined, "conflict", bench.now);
    bench.machine.setTrouble(
      "s/7",
      { value: { v: 1, strikes: 3, last: { node: "b", what: "holder lost", message: "" } }, revision: 30 },
      bench.now,
    );
    expect(bench.kinds(1_000)).toEqual([]);
    expect(bench.kinds(1_100)).toEqual(["grant"]);
  });
});

describe("contending", () => {
  test("the target prepares while another holds, then says ready; no longer wanted, it withdraws before it lets go", () => {
    bench = new Bench(true);
    bench.plan("a", "b").tenure("b", 20);
    expect(bench.kinds().sort()).toEqual(["contend", "prepare"]);
    bench.contender("a", "preparing", 21);
    bench.machine.committed("contend", KEY, undefined, "committed", bench.now);
    bench.machine.prepared(KEY);
    expect(bench.kinds()).toEqual(["contend"]);
    bench.contender("a", "ready", 22);
    bench.machine.committed("contend", KEY, undefined, "committed", bench.now);
    expect(bench.kinds()).toEqual([]);
    bench.plan("b");
    expect(bench.kinds()).toEqual(["withdraw"]);
    bench.machine.setContender(KEY, "a", undefined, bench.now);
    bench.machine.committed("withdraw", KEY, undefined, "committed", bench.now);
    expect(bench.kinds()).toEqual(["discard"]);
  });
});

describe("hand-over", () => {
  const drained = () => {
    bench.plan("a").live(20);
    bench.plan("b", "a").contender("b", "ready", 30);
    expect(bench.kinds()).toEqual(["drain"]);
    expect(bench.phase()).toBe("draining");
    bench.machine.drained(KEY);
  };

  test("waits for a ready contender, stops admitting, drains, then sends one guarded commit", () => {
    bench.plan("a").live(20);
    bench.plan("b", "a").contender("b", "preparing", 29);
    expect(bench.kinds()).toEqual([]);
    bench.contender("b", "ready", 30);
    expect(bench.kinds()).toEqual(["drain"]);
    bench.machine.drained(KEY);
    expect(bench.kinds()).toEqual(["hand-over"]);
    const [action] = bench.actions;
    expect(action?.kind === "commit" && action.commit.guards).toEqual([
      { key: "/keelson/f/fleet/era", revision: 3 },
      { key: "/keelson/f/tenure/s/7/0", revision: 20 },
      { key: "/keelson/f/contender/s/7/0/b", revision: 30 },
    ]);
    bench.tenure("b", 31, "hand-over").report("hand-over", "committed");
    expect(bench.kinds()).toEqual(["close"]);
    expect(bench.phase()).toBeUndefined();
  });

  test("goes back to serving when the contender withdrew before anything was sent", () => {
    drained();
    bench.machine.setContender(KEY, "b", undefined, bench.now);
    expect(bench.kinds()).toEqual(["live"]);
    expect(bench.phase()).toBe("live");
  });

  test("after an unknown outcome it repeats the same commit, and then re-stamps; it never serves under that epoch", () => {
    drained();
    expect(bench.kinds()).toEqual(["hand-over"]);
    const [sent] = bench.actions;
    bench.report("hand-over", "unknown");
    expect(bench.kinds(100)).toEqual(["hand-over"]);
    expect(bench.actions[0]).toEqual(sent);
    bench.report("hand-over", "unknown");
    expect(bench.kinds(t.unsureMs)).toEqual(["re-stamp"]);
    expect(bench.phase()).toBe("restamping");
    bench.tenure("a", 40, "re-stamp");
    expect(bench.kinds()).toEqual(["close"]);
    bench.machine.closed(KEY);
    expect(bench.kinds()).toEqual(["activate"]);
    expect(bench.machine.local(KEY)?.hold?.epoch).toEqual({ era: 1, revision: 40 });
  });

  test("a conflict re-stamps: a copy of the commit may have landed", () => {
    drained();
    bench.step();
    bench.report("hand-over", "conflict");
    expect(bench.kinds()).toEqual(["re-stamp"]);
    bench.tenure("b", 31, "hand-over");
    expect(bench.kinds()).toEqual(["close"]);
    expect(bench.phase()).toBeUndefined();
  });

  test("a lost session ends the tenure and closes the shard, and leaves what was prepared", () => {
    bench = new Bench(true);
    bench.plan("a").tenure("a", 20);
    bench.step();
    bench.machine.prepared(KEY);
    expect(bench.kinds()).toEqual(["activate"]);
    bench.machine.activated(KEY, { era: 1, revision: 20 }, bench.now);
    bench.machine.setSession(undefined);
    expect(bench.kinds()).toContain("close");
    bench.machine.closed(KEY);
    bench.step();
    expect(bench.phase()).toBeUndefined();
    expect(bench.machine.local(KEY)?.data).toBe("prepared");
  });
});

describe("leaving", () => {
  test("hands over to whoever gets ready, and releases when nobody can", () => {
    bench.plan("a").live(20);
    bench.machine.leave(bench.now);
    bench.plan();
    expect(bench.kinds()).toEqual(["close"]);
    bench.machine.closed(KEY);
    expect(bench.kinds()).toEqual(["release"]);
    expect(bench.machine.idle()).toBe(false);
    bench.noTenure().report("release", "committed");
    bench.step();
    expect(bench.machine.idle()).toBe(true);
  });

  test("never grants or contends", () => {
    bench.machine.leave(bench.now);
    bench.plan("a");
    expect(bench.kinds()).toEqual([]);
    bench.tenure("b", 20);
    expect(bench.kinds()).toEqual([]);
  });
});

describe("a service that cannot work on this node", () => {
  test("gives up what it holds without a strike, and takes nothing until it is resumed", () => {
    bench.plan("a", "b").noTenure().live(10);
    bench.machine.suspend("s", "no disk", bench.now);
    expect(bench.kinds()).toEqual(["close"]);
    expect(bench.phase()).toBe("releasing");
    bench.machine.closed(KEY);
    const [release] = bench.step();
    expect(release).toMatchObject({ kind: "commit", purpose: "release" });
    expect(JSON.stringify(release)).not.toContain("trouble");
    bench.report("release", "committed").noTenure();
    expect(bench.kinds(60_000)).toEqual([]);
    bench.machine.resume("s");
    expect(bench.kinds()).toEqual(["grant"]);
  });

  test("is given up even if it is resumed before anybody looked: what was open has failed", () => {
    bench.plan("a", "b").noTenure().live(10);
    bench.machine.suspend("s", "no disk", bench.now);
    bench.machine.resume("s");
    expect(bench.kinds()).toEqual(["close"]);
    expect(bench.phase()).toBe("releasing");
  });

  test("does not contend for what the plan wants here, and withdraws where it did", () => {
    bench.plan("a", "b").tenure("b", 10);
    expect(bench.kinds()).toEqual(["contend"]);
    bench.machine.committed("contend", KEY, undefined, "committed", bench.now);
    bench.contender("a", "ready", 11).step();
    bench.machine.suspend("s", "no disk", bench.now);
    expect(bench.kinds()).toEqual(["withdraw"]);
    bench.machine.committed("withdraw", KEY, undefined, "committed", bench.now);
    bench.machine.setContender(KEY, "a", undefined, bench.now);
    expect(bench.kinds(60_000)).toEqual([]);
    bench.machine.resume("s");
    expect(bench.kinds()).toEqual(["contend"]);
  });

  test("blames no shard that it could not open meanwhile", () => {
    bench.plan("a", "b").noTenure().tenure("a", 10);
    expect(bench.kinds()).toContain("activate");
    bench.machine.suspend("s", "no disk", bench.now);
    bench.machine.activateFailed(KEY, { era: 1, revision: 10 }, "no disk", bench.now);
    const [release] = bench.step();
    expect(release).toMatchObject({ kind: "commit", purpose: "release" });
    expect(JSON.stringify(release)).not.toContain("trouble");
    expect(bench.machine.local(KEY)?.failures).toBe(0);
  });
});

describe("a shard that does not open", () => {
  test("is re-stamped before each new try, then released with a strike, and left alone for a while", () => {
    bench.plan("a").tenure("a", 20);
    const fail = (revision: number): string[] => {
      const did = bench.kinds(2_000);
      bench.machine.activateFailed(KEY, { era: 1, revision }, "no disk", bench.now);
      return did;
    };
    for (let revision = 20; revision < 19 + t.opensTriesMax; revision++) {
      expect(fail(revision)).toEqual(["activate"]);
      expect(bench.kinds(2_000)).toEqual(["re-stamp"]);
      bench.tenure("a", revision + 1, "re-stamp").report("re-stamp", "committed");
    }
    expect(fail(19 + t.opensTriesMax)).toEqual(["activate"]);
    expect(bench.kinds()).toEqual(["release"]);
    const [release] = bench.actions;
    expect(release?.kind === "commit" && JSON.stringify(release.commit.writes)).toContain("no disk");
    bench.noTenure().report("release", "committed");
    expect(bench.kinds(1_000)).toEqual([]);
  });

  test("a release that was lost on the way is repeated until the key is gone", () => {
    bench.plan("a").live(20);
    bench.machine.leave(bench.now);
    bench.plan();
    bench.step();
    bench.machine.closed(KEY);
    bench.step();
    bench.report("release", "unknown");
    expect(bench.kinds(2_000)).toEqual(["release"]);
  });
});
