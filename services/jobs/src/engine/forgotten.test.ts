import { describe, expect, it } from "vitest";
import { done, EngineScene, failed, job } from "./engine-scene.ts";

const NO_TIME = { retentionMs: 0 };

describe("a job that is kept for no time", () => {
  it("is gone when it has ended, and its id is free", () => {
    const scene = new EngineScene(NO_TIME);
    scene.enqueue(job("a"));
    expect(scene.report(scene.lease()[0])).toEqual({ done: true, status: "succeeded" });
    expect(scene.queries.get({ tenant: "t", id: "a" })).toBeUndefined();
    expect(scene.engine.state.tenants.size).toBe(0);
    expect(scene.engine.state.counts).toMatchObject({ running: 0, succeeded: 0 });
    const other = job("a", { payload: Buffer.from("other") });
    expect(scene.enqueue(other)).toEqual([{ id: "a", outcome: "created" }]);
    expect(scene.leaseIds()).toEqual(["a"]);
  });

  it("tells those who listen how it ended", () => {
    const scene = new EngineScene(NO_TIME);
    scene.enqueue(job("a"));
    const [task] = scene.lease();
    scene.pass(25);
    scene.report(task);
    const { wallMs } = scene;
    expect(scene.effects.at(-1)).toMatchObject({
      ids: ["a"],
      status: "succeeded",
      forgotten: [{ startedAtMs: wallMs - 25, finishedAtMs: wallMs, outcome: { data: "done" } }],
    });
  });

  it("is there while it may be tried again", () => {
    const scene = new EngineScene(NO_TIME);
    const retry = { retries: 1, initialMs: 10, maxMs: 10, factor: 1, jitter: false };
    scene.enqueue(job("a", { retry }));
    scene.report(scene.lease()[0], failed);
    expect(scene.get("a").status).toBe("scheduled");
    scene.pass(10);
    scene.report(scene.lease()[0], failed);
    expect(scene.queries.get({ tenant: "t", id: "a" })).toBeUndefined();
    expect(scene.effects.at(-1)).toMatchObject({ status: "failed", forgotten: [{ outcome: { code: "E" } }] });
  });

  it("says so itself, or the engine does for all that say nothing", () => {
    const scene = new EngineScene({ retentionMs: 1_000 });
    scene.enqueue(job("gone", { retentionMs: 0 }), job("kept"));
    for (const task of scene.lease(2)) scene.report(task, done);
    expect(scene.queries.get({ tenant: "t", id: "gone" })).toBeUndefined();
    expect(scene.get("kept").status).toBe("succeeded");
    const other = new EngineScene(NO_TIME);
    other.enqueue(job("kept", { retentionMs: 1_000 }));
    other.report(other.lease()[0]);
    expect(other.get("kept").status).toBe("succeeded");
  });

  it("gives its result to those that wait for it, and its places back", () => {
    const scene = new EngineScene(NO_TIME);
    const limits = [{ kind: "concurrency", key: "k", max: 1 }] as const;
    scene.enqueue(job("first", { limits }), job("second", { limits }), job("after", { after: ["first"] }));
    const [first] = scene.lease(3);
    expect(first?.spec.id).toBe("first");
    scene.report(first);
    const next = scene.lease(3);
    expect(next.map(({ spec }) => spec.id).sort()).toEqual(["after", "second"]);
    const after = next.find(({ spec }) => spec.id === "after");
    expect(after?.inputs).toMatchObject([{ id: "first", outcome: done }]);
  });

  it("may have been kept before: a job that was restarted leaves nothing of its first life", () => {
    const scene = new EngineScene(NO_TIME);
    scene.enqueue(job("a"));
    scene.do({ kind: "cancel", tenant: "t", id: "a" });
    scene.do({ kind: "restart", tenant: "t", id: "a" });
    scene.report(scene.lease()[0]);
    expect(scene.queries.get({ tenant: "t", id: "a" })).toBeUndefined();
    // Its first end may be in pages by now, where it must not be found.
    expect([...scene.engine.state.forgotten.keys()]).toEqual(["t\0a"]);
  });
});
