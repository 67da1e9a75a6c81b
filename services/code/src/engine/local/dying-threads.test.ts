/** Searching threads that die as soon as they are started, as they do where memory or a file is missing: real ones, that run something else. */
import { Worker } from "node:worker_threads";
import { SystemClock } from "@keelson/runtime";
import { afterEach, expect, test, vi } from "vitest";
import type { CodeEngine } from "../engine.ts";
import type { EngineQuery } from "../query.ts";
import { openEngine } from "./open-engine.ts";

vi.setConfig({ testTimeout: 60_000 });

const state = vi.hoisted(() => ({ dying: false, started: 0 }));
vi.mock(import("../threads/start-thread.ts"), async (original) => {
  const { startThread } = await original();
  return {
    startThread: (name, data) => {
      if (name !== "search-thread") return startThread(name, data);
      state.started++;
      return state.dying
        ? new Worker("throw new Error('cannot start')", { eval: true })
        : startThread(name, data);
    },
  };
});

let engine: CodeEngine | undefined;
afterEach(() => engine?.close());

const needle: EngineQuery = { kind: "substring", text: "needle", caseSensitive: true, scope: "content" };

test("a thread that dies at every start is started ever more seldom, says so, and searches are answered once it lives", async () => {
  state.dying = true;
  engine = openEngine({ memoryBytes: 32_000_000, workers: 1, spareWorkers: 0 }, { clock: new SystemClock() });
  const content = Buffer.from("needle\n");
  const index = await engine.build([{ path: "a", oid: "00", branches: ["main"], content }], {
    branches: ["main"],
  });
  // Nobody waits beyond their time.
  expect((await index.search(needle, { timeCapMs: 1_500 })).partial).toBe("time-cap");
  // At once, and after 0.1, 0.2, 0.4, 0.8 and 1.6 s.
  const { started } = state;
  expect(started).toBeLessThanOrEqual(12);
  expect(engine.threads.deaths).toBeGreaterThan(0);
  state.dying = false;
  const { counts } = await index.search(needle, { timeCapMs: 50_000 });
  expect([counts.matches, engine.threads.dead]).toEqual([1, 0]);
});
