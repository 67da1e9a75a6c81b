import { FaultRule, type Fault } from "@keelson/testkit";
import { expect, test } from "vitest";
import { ObjectError } from "../../errors.ts";
import { realClock } from "../../fixtures/real-clock.ts";
import { InterceptedObjects, type ObjectCall } from "../../intercepted-objects.ts";
import { MemoryObjects } from "../../memory/memory-objects.ts";
import type { Journal, JournalTerms } from "../contract.ts";
import { openJournal, readJournal } from "../open.ts";

const unavailable = new ObjectError("OBJECT_UNAVAILABLE", "not reached");
const unknown = new ObjectError("OBJECT_UNKNOWN", "its end was not seen");
const ports = { clock: realClock, random: Math.random };

class Scene {
  readonly memory = new MemoryObjects();
  readonly #rules: FaultRule<ObjectCall, string>[] = [];
  /** The same objects, as somebody sees them for whom things go wrong. */
  readonly faulty = new InterceptedObjects(this.memory, (call, key, apply) => {
    const rule = this.#rules.find((each) => each.claims(call, key));
    return rule === undefined
      ? apply()
      : rule.carryOut(apply, (side) => (side === "before" ? unavailable : unknown));
  });

  strike(
    fault: Fault,
    times?: number,
    calls: readonly ObjectCall[] = ["putIfAbsent"],
  ): FaultRule<ObjectCall, string> {
    const rule = new FaultRule<ObjectCall, string>(
      times === undefined ? { calls, fault } : { calls, fault, times },
      realClock,
    );
    this.#rules.push(rule);
    return rule;
  }

  open(revision: number, terms: Partial<JournalTerms> = {}, objects = this.faulty): Promise<Journal> {
    return openJournal(objects, {
      name: "j",
      epoch: { era: 1, revision },
      terms: { gatherMs: 0, ...terms },
      ...ports,
    });
  }

  async texts(): Promise<string[]> {
    const found: string[] = [];
    for await (const { records } of readJournal(this.memory, {
      name: "j",
      timeoutMs: 5_000,
      random: Math.random,
    }))
      found.push(...records.map(({ bytes }) => bytes.toString()));
    return found;
  }
}

const append = (journal: Journal, text: string): Promise<number> =>
  journal.stream("a", { era: 1, revision: 1 }).append(Buffer.from(text));

test("a put whose end was not seen is found to be ours, once", async () => {
  const scene = new Scene();
  const journal = await scene.open(1);
  scene.strike({ kind: "fail", side: "after" }, 1);
  await append(journal, "one");
  await append(journal, "two");
  expect(await scene.texts()).toEqual(["one", "two"]);
});

test("a put that the network repeated is ours, once", async () => {
  const scene = new Scene();
  const journal = await scene.open(1);
  scene.strike({ kind: "repeat", times: 3 }, 1);
  await append(journal, "one");
  expect(await scene.texts()).toEqual(["one"]);
});

test("a put that did not get through is tried again, and so is the reading after it", async () => {
  const scene = new Scene();
  const journal = await scene.open(1);
  scene.strike({ kind: "fail", side: "after" }, 1);
  scene.strike({ kind: "fail", side: "before" }, 2);
  scene.strike({ kind: "fail", side: "before" }, 2, ["get"]);
  await append(journal, "one");
  expect(await scene.texts()).toEqual(["one"]);
});

test("what never gets through is unknown after the flush's time, and what came later never was", async () => {
  const scene = new Scene();
  const journal = await scene.open(1, { flushTimeoutMs: 300 });
  const rule = scene.strike({ kind: "fail", side: "before" });
  const lost = append(journal, "lost?");
  // Looked at below; on a busy machine it may have failed before that.
  lost.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 20));
  const waiting = append(journal, "waiting");
  waiting.catch(() => {});
  await expect(lost).rejects.toMatchObject({ code: "JOURNAL_UNKNOWN" });
  await expect(waiting).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  await expect(append(journal, "later")).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  rule.remove();
  const again = await scene.open(1);
  await append(again, "again");
  expect(await scene.texts()).toEqual(["again"]);
});

test("a refusal for good breaks the journal at once", async () => {
  const scene = new Scene();
  const journal = await scene.open(1);
  const error = new ObjectError("OBJECT_DENIED", "no such key");
  scene.strike({ kind: "fail", side: "before", error }, 1);
  await expect(append(journal, "x")).rejects.toMatchObject({
    code: "JOURNAL_UNKNOWN",
    message: expect.stringContaining("no such key") as unknown,
  });
  expect(journal.failure).toMatchObject({ code: "JOURNAL_BROKEN" });
});

test("a put that stands still while another opens arrives too late", async () => {
  const scene = new Scene();
  const old = await scene.open(1);
  await append(old, "one");
  const hold = scene.strike({ kind: "hold", side: "before" }, 1);
  const stale = append(old, "stale");
  while (hold.held === 0) await new Promise((resolve) => setImmediate(resolve));
  const young = await scene.open(2);
  await append(young, "two");
  hold.release();
  await expect(stale).rejects.toMatchObject({ code: "JOURNAL_FENCED" });
  expect(await scene.texts()).toEqual(["one", "two"]);
});

test("a put that arrived before another opened counts, however late its answer", async () => {
  const scene = new Scene();
  const old = await scene.open(1);
  const hold = scene.strike({ kind: "hold", side: "after" }, 1);
  const slow = append(old, "slow");
  while (hold.held === 0) await new Promise((resolve) => setImmediate(resolve));
  const young = await scene.open(2);
  expect(await scene.texts()).toEqual(["slow"]);
  await append(young, "two");
  hold.release();
  await expect(slow).resolves.toBeGreaterThan(0);
  await expect(append(old, "stale")).rejects.toMatchObject({ code: "JOURNAL_FENCED" });
  expect(await scene.texts()).toEqual(["slow", "two"]);
});

test("slow puts make large batches, not many", async () => {
  const scene = new Scene();
  const journal = await scene.open(1);
  scene.strike({ kind: "delay", side: "before", ms: 20 });
  let done = 0;
  await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      for (let k = 0; k < 4; k += 1) await append(journal, `${n}.${k}`);
      done += 1;
    }),
  );
  expect([done, (await scene.texts()).length]).toEqual([50, 200]);
  expect(journal.stats.batches).toBeLessThanOrEqual(6);
});

test("a damaged or missing segment is an error, never data", async () => {
  const scene = new Scene();
  const journal = await scene.open(1);
  for (const text of ["one", "two", "three"]) await append(journal, text);
  const key = (sequence: number): string => `journal/j/segment/${String(sequence).padStart(16, "0")}`;
  scene.memory.damage(key(3), 70);
  await expect(scene.texts()).rejects.toMatchObject({ code: "OBJECT_CORRUPT" });
  await scene.memory.delete([key(3)], { timeoutMs: 1_000 });
  await expect(scene.texts()).rejects.toMatchObject({
    code: "JOURNAL_CORRUPT",
    message: expect.stringContaining("batch 3 is missing") as unknown,
  });
});
