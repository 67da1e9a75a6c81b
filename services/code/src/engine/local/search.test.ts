import { SystemClock } from "@keelson/runtime";
import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { word } from "../threads/cells.ts";
import type { SearchReply } from "../threads/protocol.ts";
import type { MemoryIndex } from "./memory-index.ts";
import { searchIndex } from "./search.ts";
import type { Running } from "./searchers.ts";

const nothing = { files: 0, lines: 0, matches: 0, documents: 0, documentsScanned: 0, bytesScanned: 0 };

test("when a part of a search fails, its other parts are told to stop", async () => {
  const cells: Int32Array[] = [];
  const done: string[] = [];
  const run = (): Running => {
    const number = cells.length;
    const cell = new Int32Array(new SharedArrayBuffer(16));
    cells.push(cell);
    return {
      reply: number === 0 ? Promise.reject(new Error("a thread died")) : new Promise(() => undefined),
      cell,
      withdraw: () => done.push(`withdraw ${number}`),
      release: () => done.push(`release ${number} ${cell[word.stop]}`),
    };
  };
  const index = {
    parts: [{}, {}],
    stats: { contentBytes: 2 ** 30 },
    ports: { searchers: { threads: 2, run }, clock: new SystemClock() },
  } as unknown as MemoryIndex;
  await expect(searchIndex(index, { kind: "all" }, {})).rejects.toThrow("a thread died");
  expect(done).toEqual(["withdraw 0", "release 0 1", "withdraw 1", "release 1 1"]);
});

test("a search is told to stop before its time is up, so that its answer is there when it is", async () => {
  const clock = new ManualClock();
  const cell = new Int32Array(new SharedArrayBuffer(16));
  let resolve: (reply: SearchReply) => void = () => undefined;
  const running: Running = {
    reply: new Promise((settle) => (resolve = settle)),
    cell,
    withdraw: () => resolve({ counts: nothing, stopped: "interrupted" }),
    release: () => undefined,
  };
  const index = {
    parts: [{}],
    stats: { contentBytes: 1, documents: 1 },
    ports: { searchers: { threads: 1, run: () => running }, clock },
  } as unknown as MemoryIndex;
  const answer = searchIndex(index, { kind: "all" }, { timeCapMs: 1_000 });
  await clock.advance(900);
  expect(cell[word.stop]).toBe(0);
  await clock.advance(99);
  expect((await answer).partial).toBe("time-cap");
});
