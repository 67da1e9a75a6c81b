import { ManualClock } from "@keelson/testkit";
import { SystemClock } from "@keelson/runtime";
import { expect, test } from "vitest";
import { ArenaSet } from "../memory/arena-set.ts";
import { SMALL_TEXT_BYTES, TEXT_BYTES } from "../segment/writer.ts";
import { buildIndex } from "./build.ts";
import { Builder, type TextMemory } from "./build-memory.ts";
import { Searchers } from "./searchers.ts";

const hasGlibc =
  (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header.glibcVersionRuntime !==
  undefined;

test("a build that comes after a pause has the memory of the one before it while that is not collected", async () => {
  const clock = new ManualClock();
  const builder = new Builder(new ArenaSet(1 << 20, 1), clock, { stays: false, textBytes: TEXT_BYTES });
  const memories: TextMemory[] = [];
  const use = (): Promise<unknown> => builder.use(async (memory) => memories.push(memory));
  await use();
  await clock.advance(60_000);
  await use();
  expect(memories[1]).toBe(memories[0]);
  await builder.stop();
});

test.runIf(hasGlibc)(
  "what a build worked in goes back to the system when nothing is built for a while, and not before",
  async () => {
    const clock = new ManualClock();
    const builder = new Builder(new ArenaSet(1 << 20, 1), clock, { stays: false, textBytes: TEXT_BYTES });
    const memory = await builder.use(async (each) => each);
    const used = (): boolean =>
      memory.bytes.subarray(memory.text, memory.text + 9_000).every((byte) => byte === 7);
    memory.bytes.fill(7, memory.text, memory.text + 9_000);
    await clock.advance(1_000);
    await builder.use(async () => undefined);
    await clock.advance(1_999);
    expect(used()).toBe(true);
    await clock.advance(1);
    expect(used()).toBe(false);
    expect(memory.bytes[memory.text]).toBe(0);
    await builder.stop();
  },
);

test("what a build works in stays while it does, though the engine is closed meanwhile", async () => {
  const builder = new Builder(new ArenaSet(1 << 20, 1), new ManualClock(), {
    stays: false,
    textBytes: TEXT_BYTES,
  });
  await builder.use(async ({ bytes, text }) => {
    bytes.fill(7, text, text + 9_000);
    await builder.stop();
    expect(bytes.subarray(text, text + 9_000).every((byte) => byte === 7)).toBe(true);
  });
});

test("where memory is short what builds stays", async () => {
  const clock = new ManualClock();
  const builder = new Builder(new ArenaSet(1 << 20, 1), clock, { stays: true, textBytes: SMALL_TEXT_BYTES });
  await builder.use(async () => undefined);
  expect(clock.timers).toBe(0);
  await builder.stop();
});

test("a repository of more text than a small building memory holds is found whole, and so is a file that is larger than it", async () => {
  const clock = new SystemClock();
  const arenas = new ArenaSet(32 << 20, 1);
  const searchers = new Searchers({ threads: 1, spares: 0, stay: true }, arenas.arenas, clock);
  const builder = new Builder(arenas, clock, { stays: true, textBytes: SMALL_TEXT_BYTES });
  const filler = "a line with some words to fill it\n";
  const files = [2, 2, 2, 5].map((mib, i) => ({
    path: `${i}.txt`,
    oid: String(i).padStart(40, "0"),
    branches: ["main"],
    content: Buffer.from(`needle\n${filler.repeat(Math.floor((mib << 20) / filler.length))}needle\n`),
  }));
  const terms = { branches: ["main"], documentBytesMax: 8 << 20 };
  const index = await buildIndex(files, terms, { arenas, searchers, clock }, builder);
  const { counts } = await index.search(
    { kind: "substring", text: "needle", caseSensitive: true, scope: "content" },
    { timeCapMs: 60_000 },
  );
  expect([counts.files, counts.lines, counts.matches]).toEqual([4, 8, 8]);
  await builder.stop();
  await searchers.stop();
}, 60_000);
