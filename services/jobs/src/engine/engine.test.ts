import { describe, expect, it } from "vitest";
import { done, EngineScene, failed, job } from "./engine-scene.ts";
import type { Limit } from "./model/job-spec.ts";
import { JOB_LIMITS } from "./model/limits.ts";

const place = (key: string, max: number): Limit => ({ kind: "concurrency", key, max });
const rate: Limit = {
  kind: "rate",
  name: "r",
  uniqueKey: "u",
  limit: 10,
  durationMs: 1000,
  hits: 1,
  algorithm: 0,
  behavior: 0,
  burst: 0,
  backoff: { initialMs: 10, maxMs: 100, factor: 2 },
};

describe("ids", () => {
  it("take the same content as the same job, and other content as a conflict", () => {
    const scene = new EngineScene();
    expect(scene.enqueue(job("a"), job("a"))).toEqual([
      { id: "a", outcome: "created" },
      { id: "a", outcome: "same" },
    ]);
    scene.pass(5000);
    expect(scene.enqueue(job("a"))).toEqual([{ id: "a", outcome: "same" }]);
    expect(scene.enqueue(job("a", { payload: Buffer.from("other") }))).toMatchObject([
      { refused: "CONFLICT" },
    ]);
    expect(scene.enqueue(job("a", { tenant: "other" }))).toEqual([{ id: "a", outcome: "created" }]);
    expect(scene.records).toHaveLength(2);
  });
});

describe("order", () => {
  it("runs a new job of priority 0 before an older backlog of priority 99", () => {
    const scene = new EngineScene();
    scene.enqueue(job("old", { priority: 99 }));
    scene.pass(1000);
    scene.enqueue(job("new", { priority: 0 }), job("middle"));
    expect(scene.leaseIds(3)).toEqual(["new", "middle", "old"]);
  });

  it("starts no job before its time, and lets one be expedited", () => {
    const scene = new EngineScene();
    scene.enqueue(
      job("later", { startAtMs: scene.wallMs + 1000 }),
      job("much", { startAtMs: scene.wallMs + 9000 }),
    );
    expect(scene.leaseIds(2)).toEqual([]);
    expect(scene.engine.waitMs(scene)).toBe(1000);
    scene.pass(1000);
    expect(scene.leaseIds(2)).toEqual(["later"]);
    expect(scene.do({ kind: "expedite", tenant: "t", id: "much" })).toEqual({ done: true });
    expect(scene.leaseIds(2)).toEqual(["much"]);
    expect(scene.do({ kind: "expedite", tenant: "t", id: "much" })).toMatchObject({ refused: "WRONG_STATE" });
  });

  it("does not let a thousand jobs of one tenant delay another's one", () => {
    const scene = new EngineScene();
    scene.enqueue(...Array.from({ length: 1000 }, (_, n) => job(`n${n}`, { tenant: "noisy" })));
    scene.lease(10);
    scene.enqueue(job("quiet", { tenant: "other" }));
    expect(scene.leaseIds()).toEqual(["quiet"]);
  });

  it("gives slots by weight", () => {
    const scene = new EngineScene();
    scene.do({ kind: "setTenant", tenant: "heavy", weight: 3 });
    for (const tenant of ["heavy", "light"])
      scene.enqueue(...Array.from({ length: 100 }, (_, n) => job(`${tenant}${n}`, { tenant })));
    const tenants = scene.lease(40).map(({ spec }) => spec.tenant);
    expect(tenants.filter((each) => each === "heavy")).toHaveLength(30);
  });

  it("stops and goes on with a paused group and a paused tenant", () => {
    const scene = new EngineScene();
    scene.enqueue(job("a"), job("b", { tenant: "u" }));
    scene.do({ kind: "setTenant", tenant: "t", paused: true });
    expect(scene.leaseIds(5)).toEqual(["b"]);
    scene.do({ kind: "setGroup", group: "g", paused: true });
    scene.do({ kind: "setTenant", tenant: "t", paused: false });
    expect(scene.leaseIds(5)).toEqual([]);
    scene.effects.length = 0;
    scene.do({ kind: "setGroup", group: "g", paused: false });
    expect(scene.effects).toContainEqual({ kind: "ready", group: "g" });
    expect(scene.leaseIds(5)).toEqual(["a"]);
  });
});

describe("attempts", () => {
  it("are repeated with growing waits until the policy is exhausted", () => {
    const scene = new EngineScene();
    scene.enqueue(job("a", { retry: { retries: 3, initialMs: 100, maxMs: 350, factor: 2, jitter: false } }));
    for (const waitMs of [100, 200, 350]) {
      scene.report(scene.lease()[0], failed);
      scene.pass(waitMs - 1);
      expect(scene.leaseIds()).toEqual([]);
      scene.pass(1);
    }
    const [last] = scene.lease();
    expect(last).toMatchObject({ attempt: 4, isLastAttempt: true });
    expect(scene.report(last, failed)).toEqual({ done: true, status: "failed" });
    expect(scene.get("a").attempts).toHaveLength(4);
    expect(scene.do({ kind: "restart", tenant: "t", id: "a" })).toEqual({ done: true });
    expect(scene.lease()[0]).toMatchObject({ attempt: 5, relativeAttempt: 1, isLastAttempt: false });
  });

  it("forget their oldest attempts when they are restarted and all is more than a record takes", () => {
    const scene = new EngineScene();
    const data = Buffer.alloc(JOB_LIMITS.resultBytesMax);
    const outcome = { kind: "failed", code: "E", data } as const;
    const past = (attempts: number) => ({
      enqueuedAtMs: 1,
      attempts: Array.from({ length: attempts }, () => ({ outcome, startedAtMs: 1, finishedAtMs: 2 })),
    });
    const fit = Math.floor(JOB_LIMITS.restartBytesMax / data.length);
    scene.do({ kind: "import", jobs: [{ ...job("a"), ...past(fit - 1) }] });
    scene.do({ kind: "import", jobs: [{ ...job("b"), ...past(fit + 20) }] });
    const numbers = (id: string): number[] => scene.get(id).attempts.map(({ number }) => number);
    expect(scene.do({ kind: "restart", tenant: "t", id: "a" })).toEqual({ done: true });
    expect(numbers("a")).toHaveLength(fit - 1);
    const before = scene.records.length;
    expect(scene.do({ kind: "restart", tenant: "t", id: "b" })).toEqual({ done: true });
    expect(Math.max(...scene.records.slice(before).map(({ length }) => length))).toBeLessThan(26 * 2 ** 20);
    expect(numbers("b").length).toBeLessThanOrEqual(fit);
    expect(numbers("b").at(-1)).toBe(fit + 20);
    expect(
      scene
        .lease(2)
        .map(({ attempt }) => attempt)
        .sort((x, y) => x - y),
    ).toEqual([fit, fit + 21]);
  });

  it("end when their third lease is lost, and not before", () => {
    const scene = new EngineScene({ leaseMs: 1000 });
    scene.enqueue(job("a"));
    for (const status of ["scheduled", "scheduled", "failed"]) {
      expect(scene.leaseIds()).toEqual(["a"]);
      scene.pass(1000);
      scene.do({ kind: "tick" });
      expect(scene.get("a").status).toBe(status);
    }
    expect(scene.get("a").attempts).toMatchObject([{ outcome: { kind: "failed", code: "WORKER_CRASHED" } }]);
  });

  it("are refused after their lease has run out, and renewed by heartbeats", () => {
    const scene = new EngineScene({ leaseMs: 1000 });
    scene.enqueue(job("a"));
    const [task] = scene.lease();
    scene.pass(900);
    const beat = { kind: "heartbeat", worker: "w", tasks: [task!.task] } as const;
    expect(scene.do(beat)).toEqual([{ task: task!.task, state: "held" }]);
    expect(scene.do({ ...beat, worker: "other" })).toMatchObject([{ state: "lost" }]);
    scene.pass(1000);
    expect(scene.report(task)).toMatchObject({ refused: "LEASE_NOT_FOUND" });
    const [again] = scene.lease();
    expect(again!.task).not.toBe(task!.task);
    expect(scene.report(again)).toEqual({ done: true, status: "succeeded" });
    expect(scene.report(again)).toMatchObject({ refused: "LEASE_NOT_FOUND" });
  });

  it("fail when they take too long, and their worker hears of it", () => {
    const scene = new EngineScene();
    scene.enqueue(job("a", { timeoutMs: 500 }));
    const [task] = scene.lease();
    scene.pass(500);
    scene.do({ kind: "tick" });
    expect(scene.get("a")).toMatchObject({ status: "failed", attempts: [{ outcome: { code: "TIMEOUT" } }] });
    expect(scene.effects).toContainEqual({ kind: "stop", worker: "w", task: task!.task, reason: "timeout" });
  });

  it("given back count for nothing", () => {
    const scene = new EngineScene();
    scene.enqueue(job("a"));
    const [task] = scene.lease();
    expect(scene.do({ kind: "giveBack", worker: "w", tasks: [task!.task] })).toEqual([{ done: true }]);
    expect(scene.lease()[0]).toMatchObject({ attempt: 1 });
    expect(scene.get("a").lostLeases).toBe(0);
  });
});

describe("cancelling", () => {
  it("ends a waiting job at once, and asks the worker of a running one", () => {
    const scene = new EngineScene({ leaseMs: 1000 });
    scene.enqueue(job("a"), job("b"), job("c"));
    const [a, b] = scene.lease(2);
    for (const id of ["a", "b", "c"])
      expect(scene.do({ kind: "cancel", tenant: "t", id })).toEqual({ done: true });
    expect(scene.do({ kind: "cancel", tenant: "t", id: "a" })).toMatchObject({ refused: "WRONG_STATE" });
    expect(scene.get("c").status).toBe("cancelled");
    expect(scene.effects).toContainEqual({ kind: "stop", worker: "w", task: a!.task, reason: "cancelled" });
    expect(scene.do({ kind: "heartbeat", worker: "w", tasks: [a!.task] })).toMatchObject([
      { state: "cancel" },
    ]);
    expect(scene.report(a, failed)).toEqual({ done: true, status: "cancelled" });
    expect(scene.report(b, done)).toEqual({ done: true, status: "succeeded" });
    expect(scene.leaseIds(5)).toEqual([]);
  });

  it("holds when the worker is lost, whatever the retry policy says", () => {
    const scene = new EngineScene({ leaseMs: 1000 });
    scene.enqueue(job("a", { retry: { retries: 5, initialMs: 0, maxMs: 0, factor: 1, jitter: false } }));
    scene.lease();
    scene.do({ kind: "cancel", tenant: "t", id: "a" });
    scene.pass(1000);
    scene.do({ kind: "tick" });
    expect(scene.get("a").status).toBe("cancelled");
  });
});

describe("limits", () => {
  it("are held by leases, and a freed place goes to the best waiter", () => {
    const scene = new EngineScene();
    const limits = [place("k", 2)];
    scene.enqueue(
      ...["a", "b", "c", "d"].map((id) => job(id, { limits })),
      job("first", { limits, priority: 1 }),
    );
    const [first, a] = scene.lease(5);
    expect([first!.spec.id, a!.spec.id]).toEqual(["first", "a"]);
    scene.enqueue(job("urgent", { limits, priority: 0 }));
    expect(scene.leaseIds(5)).toEqual([]);
    scene.report(first);
    expect(scene.leaseIds(5)).toEqual(["urgent"]);
    scene.report(a);
    expect(scene.leaseIds(5)).toEqual(["b"]);
    expect(scene.queries.limits("t")).toMatchObject([{ key: "k", max: 2, held: 2, waiting: 2 }]);
  });

  it("named in different orders do not lock each other out", () => {
    const scene = new EngineScene();
    scene.enqueue(job("x", { limits: [place("k", 1)] }), job("y", { limits: [place("l", 1)] }));
    const [x, y] = scene.lease(2);
    scene.enqueue(
      job("kl", { limits: [place("k", 1), place("l", 1)] }),
      job("lk", { limits: [place("l", 1), place("k", 1)] }),
    );
    expect(scene.leaseIds(2)).toEqual([]);
    scene.report(x);
    expect(scene.leaseIds(2)).toEqual([]);
    scene.report(y);
    const [next] = scene.lease(2);
    scene.report(next);
    expect(scene.leaseIds(2)).toHaveLength(1);
  });

  it("keep no place for a group that has no workers", () => {
    const scene = new EngineScene();
    const limits = [place("k", 1)];
    scene.enqueue(job("a", { limits }));
    const [a] = scene.lease();
    scene.enqueue(job("idle", { limits, group: "nobody", priority: 0 }), job("b", { limits }));
    scene.leaseIds(1, "nobody");
    scene.leaseIds();
    scene.report(a);
    expect(scene.leaseIds()).toEqual(["b"]);
  });

  it("rise with the last job, and fall without taking running jobs away", () => {
    const scene = new EngineScene();
    const at = (max: number) => ({ limits: [place("k", max)] });
    scene.enqueue(job("a", at(1)), job("b", at(1)), job("c", at(1)));
    expect(scene.leaseIds(5)).toEqual(["a"]);
    scene.enqueue(job("d", at(3)));
    expect(scene.leaseIds(5)).toEqual(["b", "c"]);
    scene.enqueue(job("e", at(1)));
    expect(scene.queries.limits("t")).toMatchObject([{ max: 1, held: 3 }]);
  });

  it("of a rate let jobs through one after the other", () => {
    const scene = new EngineScene();
    scene.enqueue(job("a", { limits: [rate] }), job("b", { limits: [rate] }), job("c", { limits: [rate] }));
    expect(scene.leaseIds(5)).toEqual(["a"]);
    expect(scene.get("b").waitsFor).toBe("rate");
    expect(scene.engine.waitMs(scene)).toBe(100);
    scene.pass(100);
    expect(scene.leaseIds(5)).toEqual(["b"]);
    scene.pass(100);
    expect(scene.leaseIds(5)).toEqual(["c"]);
  });

  it("of a rate are asked outside when the limiter is outside, and hold their places meanwhile", () => {
    const scene = new EngineScene({}, "outside");
    scene.enqueue(
      job("a", { limits: [place("k", 1), rate] }),
      job("b", { limits: [place("k", 1)], priority: 99 }),
    );
    expect(scene.leaseIds(2)).toEqual([]);
    const ask = () =>
      scene.effects.flatMap((each) => (each.kind === "checkRate" ? [each.check] : [])).at(-1)!;
    scene.do({ kind: "rateChecked", check: ask(), allowed: false, retryAtMs: scene.wallMs + 50 });
    const [b] = scene.lease(2);
    expect(b!.spec.id).toBe("b");
    scene.report(b);
    scene.pass(50);
    expect(scene.leaseIds()).toEqual([]);
    scene.do({ kind: "rateChecked", check: ask(), allowed: true });
    expect(scene.leaseIds()).toEqual(["a"]);
    expect(scene.queries.limits("t").map(({ held }) => held)).toEqual([1, 1]);
  });

  it("of a rate that an outside limiter refuses hold up jobs that name them, and no others", () => {
    const scene = new EngineScene({}, "outside");
    const full: Limit = { ...rate, uniqueKey: "full" };
    scene.enqueue(job("both", { limits: [rate, full] }), job("one", { limits: [rate], priority: 99 }));
    expect(scene.leaseIds(2)).toEqual([]);
    const [both, one] = scene.effects.flatMap((each) => (each.kind === "checkRate" ? [each.check] : []));
    const retryAtMs = scene.wallMs + 3_600_000;
    scene.do({ kind: "rateChecked", check: both!, allowed: false, refusedBy: 1, retryAtMs });
    scene.do({ kind: "rateChecked", check: one!, allowed: true });
    expect(scene.leaseIds(2)).toEqual(["one"]);
    scene.enqueue(job("another", { limits: [rate] }));
    scene.lease(2);
    const asked = scene.effects.flatMap((each) => (each.kind === "checkRate" ? [each.check] : []));
    // It was asked about at once: nothing blocks the limit that did not refuse.
    expect(asked).toHaveLength(3);
  });

  it("that float follow what workers report", () => {
    const scene = new EngineScene();
    const limits: Limit[] = [
      { kind: "floating", key: "f", defaultMax: 1, refreshMs: 1000, metadata: { a: "b" } },
    ];
    scene.enqueue(job("a", { limits }), job("b", { limits }), job("c", { limits }));
    expect(scene.leaseIds(5)).toEqual(["a"]);
    scene.pass(1000);
    const answer = scene.do({ kind: "lease", group: "g", worker: "w", max: 1 });
    if ("refused" in answer) throw new Error(answer.message);
    expect(answer.refreshes).toMatchObject([{ key: "f", currentMax: 1, metadata: { a: "b" } }]);
    const { task } = answer.refreshes[0]!;
    expect(scene.do({ kind: "reportRefresh", task, outcome: { max: 3 } })).toEqual({ done: true });
    expect(scene.leaseIds(5)).toEqual(["b", "c"]);
    expect(scene.do({ kind: "reportRefresh", task, outcome: { max: 9 } })).toMatchObject({
      refused: "LEASE_NOT_FOUND",
    });
  });
});

describe("flows", () => {
  it("wait for others and get their results", () => {
    const scene = new EngineScene();
    scene.enqueue(job("a"), job("b"), job("sum", { after: ["a", "b"], priority: 0 }));
    const [a, b] = scene.lease(5);
    expect(scene.get("sum").waitsFor).toBe("dependencies");
    scene.report(a);
    expect(scene.leaseIds()).toEqual([]);
    scene.report(b);
    const [sum] = scene.lease();
    expect(sum!.inputs).toMatchObject([
      { id: "a", outcome: done },
      { id: "b", outcome: done },
    ]);
  });

  it("fail with what they wait for, through any number of jobs, unless they are to run", () => {
    const scene = new EngineScene();
    const chain = Array.from({ length: 5000 }, (_, n) => job(`j${n + 1}`, { after: [`j${n}`] }));
    scene.enqueue(job("j0"), ...chain, job("anyway", { after: ["j0"], onDependencyFailure: "run" }));
    scene.report(scene.lease()[0], failed);
    expect(scene.get("j5000").status).toBe("failed");
    expect(scene.leaseIds()).toEqual(["anyway"]);
    expect(scene.enqueue(job("x", { after: ["nobody"] }))).toMatchObject([
      { refused: "DEPENDENCY_NOT_FOUND" },
    ]);
  });
});

describe("triggers", () => {
  it("that debounce become one job with the last content, and a repeated one does not come back", () => {
    const scene = new EngineScene();
    const dedupe = { key: "d", mode: "debounce", waitMs: 100, maxWaitMs: 250 } as const;
    expect(scene.enqueue(job("a", { dedupe }))).toEqual([{ id: "a", outcome: "created" }]);
    scene.pass(90);
    expect(scene.enqueue(job("b", { dedupe }))).toEqual([{ id: "a", outcome: "joined" }]);
    scene.pass(90);
    scene.enqueue(job("c", { dedupe }));
    expect(scene.enqueue(job("b", { dedupe }))).toEqual([{ id: "a", outcome: "same" }]);
    scene.pass(69);
    expect(scene.leaseIds()).toEqual([]);
    scene.pass(1);
    expect(String(scene.lease()[0]!.spec.payload)).toBe("c");
  });

  it("that come while the job runs get a successor that waits for its end", () => {
    const scene = new EngineScene();
    const dedupe = { key: "d", mode: "unique" } as const;
    scene.enqueue(job("a", { dedupe }), job("b", { dedupe }));
    const [a] = scene.lease(5);
    expect(scene.enqueue(job("c", { dedupe }), job("d", { dedupe }))).toEqual([
      { id: "c", outcome: "created" },
      { id: "c", outcome: "joined" },
    ]);
    expect(scene.leaseIds(5)).toEqual([]);
    scene.report(a, failed);
    expect(scene.leaseIds(5)).toEqual(["c"]);
  });

  it("that are throttled run at once, then once in a window, with the last content", () => {
    const scene = new EngineScene();
    const dedupe = { key: "d", mode: "throttle", windowMs: 1000 } as const;
    scene.enqueue(job("a", { dedupe }));
    scene.report(scene.lease()[0]);
    scene.enqueue(job("b", { dedupe }), job("c", { dedupe }));
    expect(scene.leaseIds()).toEqual([]);
    scene.pass(1000);
    expect(String(scene.lease()[0]!.spec.payload)).toBe("c");
  });
});

describe("schedules", () => {
  const schedule = (missed: "skip" | "once" | "all") => ({
    kind: "putSchedule" as const,
    schedule: {
      id: "s",
      tenant: "t",
      cron: "every 100000",
      timeZone: "UTC",
      missed,
      job: { group: "g", payload: Buffer.alloc(0) },
    },
  });

  it.each([
    ["skip", 0],
    ["once", 1],
    ["all", 5],
  ] as const)("with missed runs %s make %i of five", (missed, made) => {
    const scene = new EngineScene();
    scene.wallMs = 1_700_000_000_001;
    scene.do(schedule(missed));
    scene.pass(599_000);
    scene.do({ kind: "tick" });
    // The last run was 99 s ago, which is missed too.
    expect(scene.leaseIds(10)).toHaveLength(made);
  });

  it("fire on time, once each, and stop when deleted", () => {
    const scene = new EngineScene();
    scene.do(schedule("skip"));
    scene.pass(scene.engine.waitMs(scene)!);
    const tasks = scene.lease(5);
    expect(tasks.map(({ spec }) => spec.id)).toEqual(["s@1700000100000"]);
    scene.report(tasks[0]);
    expect(scene.leaseIds(5)).toEqual([]);
    expect(scene.do({ kind: "deleteSchedule", tenant: "t", id: "s" })).toEqual({ done: true });
    scene.pass(200_000);
    expect(scene.leaseIds(5)).toEqual([]);
  });
});

describe("bad input", () => {
  it.each([
    ["a negative priority", { priority: -1 }, "a priority is a whole number from 0"],
    ["a priority of 100", { priority: 100 }, "a priority is a whole number from 0"],
    ["an oversized payload", { payload: Buffer.alloc(600_000) }, "more than 524288"],
    ["an empty id", { id: "" }, "a job's id may not be empty"],
    ["a long tenant", { tenant: "x".repeat(65) }, "at most 64 characters"],
    ["a fraction of a time", { startAtMs: 1.5 }, "whole number of milliseconds"],
    [
      "too much metadata",
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, "v"])) },
      "at most 16",
    ],
    ["a limit of nothing", { limits: [place("k", 0)] }, "at least 1"],
  ])("%s is refused, and changes nothing", (_what, more, message) => {
    const scene = new EngineScene();
    const [answer] = scene.enqueue(job("a", more));
    expect(answer).toMatchObject({ refused: "INVALID" });
    expect((answer as { message: string }).message).toContain(message);
    expect(scene.records).toEqual([]);
    expect(scene.do({ kind: "lease", group: "g", worker: "", max: 1 })).toMatchObject({ refused: "INVALID" });
    expect(scene.do({ kind: "cancel", tenant: "t", id: "a" })).toMatchObject({ refused: "JOB_NOT_FOUND" });
  });
});
