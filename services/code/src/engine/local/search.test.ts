import { SystemClock } from "@keelson/runtime";
import { expect, test } from "vitest";
import { word } from "../threads/cells.ts";
import type { MemoryIndex } from "./memory-index.ts";
import { searchIndex } from "./search.ts";
import type { Running } from "./searchers.ts";

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
