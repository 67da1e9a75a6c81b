import { expect, test } from "vitest";
import { realClock } from "../../fixtures/real-clock.ts";
import type { Objects } from "../../contract.ts";
import { InterceptedObjects } from "../../intercepted-objects.ts";
import { MemoryObjects } from "../../memory/memory-objects.ts";
import type { Journal } from "../contract.ts";
import { openJournal, readJournal } from "../open.ts";
import { JournalObjects, encodeFence } from "./segments.ts";
import { readTail } from "./tail.ts";

const timeoutMs = 1_000;
const epochOf = (revision: number) => ({ era: 1, revision });

class Scene {
  readonly objects = new MemoryObjects();
  readonly journal = new JournalObjects(this.objects, "j");

  open(revision: number, objects: Objects = this.objects): Promise<Journal> {
    const terms = { gatherMs: 0 };
    return openJournal(objects, {
      name: "j",
      epoch: epochOf(revision),
      clock: realClock,
      random: Math.random,
      terms,
    });
  }

  /** Puts an opening, or a fence of one stream, by hand. */
  async put(sequence: number, further: number, what: number | string): Promise<string> {
    const header = { sequence, further, opening: 1, writer: Buffer.alloc(16, sequence) };
    const body =
      typeof what === "number"
        ? encodeFence({ ...header, kind: "opening", epoch: epochOf(what) }, [])
        : encodeFence({ ...header, kind: "fence", epoch: epochOf(1) }, [{ stream: what, epoch: epochOf(9) }]);
    return this.journal.put(sequence, body, { timeoutMs });
  }

  async texts(): Promise<string[]> {
    const found: string[] = [];
    for await (const { records } of readJournal(this.objects, { name: "j", timeoutMs, random: Math.random }))
      found.push(...records.map(({ bytes }) => bytes.toString()));
    return found;
  }

  async kinds(): Promise<string[]> {
    const kinds: string[] = [];
    for await (const { sequence } of this.journal.slots(1, { timeoutMs })) {
      const segment = await this.journal.read(sequence, { timeoutMs });
      kinds.push(`${sequence} ${segment?.kind}`);
    }
    return kinds;
  }
}

const append = (journal: Journal, stream: string, text = stream): Promise<number> =>
  journal.stream(stream, epochOf(1)).append(Buffer.from(text));

const fenced = { code: "JOURNAL_FENCED" };

test("a writer that meets two fences, one inside the other's gap, minds both", async () => {
  const scene = new Scene();
  const journal = await scene.open(1);
  // The gap of the fence of b, at 8, was filled around that of a, at 5, before a's own was.
  await scene.put(5, 0, "a");
  await scene.put(8, 0, "b");
  for (const sequence of [2, 3]) await scene.put(sequence, 8 - sequence, "b");
  const appends = ["a", "b", "c"].map((stream) => append(journal, stream));
  await expect(appends[0]).rejects.toMatchObject(fenced);
  await expect(appends[1]).rejects.toMatchObject(fenced);
  expect(await appends[2]).toBe(9);
  expect(await scene.texts()).toEqual(["c"]);
});

test("a writer that meets an opening inside a fence's gap is ended", async () => {
  const scene = new Scene();
  const journal = await scene.open(1);
  await scene.put(6, 0, "a");
  await scene.put(2, 4, "a");
  await scene.put(4, 0, 5);
  await expect(append(journal, "c")).rejects.toMatchObject(fenced);
  expect(journal.failure).toMatchObject(fenced);
});

test("a writer goes on behind an opening with a lower epoch", async () => {
  const scene = new Scene();
  const journal = await scene.open(7);
  await scene.put(6, 0, 5);
  await scene.put(3, 3, 5);
  expect(await append(journal, "a", "one")).toBe(2);
  expect(await append(journal, "a", "two")).toBe(7);
  expect(await scene.texts()).toEqual(["one", "two"]);
  // It does not count for who comes next, either.
  expect((await readTail(scene.journal, timeoutMs)).epoch).toEqual(epochOf(7));
  await expect(scene.open(6)).rejects.toMatchObject(fenced);
});

test("a gap that an interrupted claim left is filled by who opens, and by who reads", async () => {
  for (const finish of [(scene: Scene) => scene.open(3), (scene: Scene) => scene.texts()]) {
    const scene = new Scene();
    const journal = await scene.open(1);
    await append(journal, "a", "one");
    await scene.put(7, 0, 2);
    await scene.put(5, 2, 2);
    await finish(scene);
    expect((await scene.kinds()).slice(0, 7)).toEqual([
      "1 opening",
      "2 data",
      ...[3, 4, 5, 6, 7].map((n) => `${n} opening`),
    ]);
    await expect(append(journal, "a", "stale")).rejects.toMatchObject(fenced);
    expect(await scene.texts()).toEqual(["one"]);
  }
});

test("an opening that finds a higher one in its gap is void, and the higher one goes on behind it", async () => {
  const scene = new Scene();
  await append(await scene.open(1), "a", "one");
  let rival: Journal | undefined;
  const late = new InterceptedObjects(scene.objects, async (call, _key, apply) => {
    // The end of the journal has been read, and somebody with a higher epoch is faster.
    if (call === "putIfAbsent") rival ??= await scene.open(9);
    return apply();
  });
  await expect(scene.open(5, late)).rejects.toMatchObject(fenced);
  expect((await scene.kinds()).length).toBeGreaterThan(10);
  await append(rival!, "a", "two");
  await append(rival!, "a", "three");
  expect(await scene.texts()).toEqual(["one", "two", "three"]);
  await expect(scene.open(8)).rejects.toMatchObject(fenced);
});
