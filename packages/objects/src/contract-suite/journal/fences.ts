/* oxlint-disable no-await-in-loop -- facts are stories: one step after the other. */
/** Epochs: of any number of writers, only the last one that opened acknowledges anything, and nothing that was acknowledged is missing. */
import { expect } from "vitest";
import type { JournalError } from "../../journal/errors.ts";
import type { Journal, JournalStream } from "../../journal/contract.ts";
import { FENCED, epochOf, type JournalFacts, type JournalScene } from "./scene.ts";

/** Appends until it is refused; gives what was acknowledged, in order. */
async function appendUntilFenced(stream: JournalStream, name: string): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let n = 0; ; n += 1) {
    const texts = [`${name}-${n}a`, `${name}-${n}b`];
    try {
      await Promise.all(texts.map((text) => stream.append(Buffer.from(text))));
      acknowledged.push(...texts);
    } catch (error) {
      if ((error as JournalError).code !== "JOURNAL_FENCED") throw error;
      return acknowledged;
    }
  }
}

async function openAndFill(scene: JournalScene, revision: number): Promise<Journal> {
  const journal = await scene.open(revision);
  await journal.stream("a", epochOf(1)).append(Buffer.from(`${revision}`));
  return journal;
}

export const fences: JournalFacts = {
  about: "fences",
  facts: {
    "a higher epoch ends the writer before it, and keeps what that one acknowledged": async (scene) => {
      const old = await openAndFill(scene, 1);
      await openAndFill(scene, 2);
      const stale = old.stream("a", epochOf(1));
      await expect(stale.append(Buffer.from("stale"))).rejects.toMatchObject(FENCED);
      await expect(stale.append(Buffer.from("staler"))).rejects.toMatchObject(FENCED);
      expect(old.failure).toMatchObject(FENCED);
      await expect(old.flush()).rejects.toMatchObject(FENCED);
      expect(await scene.texts()).toEqual(["1", "2"]);
    },
    "the same epoch, opened again, ends the writer before it": async (scene) => {
      const old = await openAndFill(scene, 5);
      await openAndFill(scene, 5);
      await expect(old.stream("a", epochOf(1)).append(Buffer.from("stale"))).rejects.toMatchObject(FENCED);
    },
    "a lower epoch cannot open it, and disturbs nobody by trying": async (scene) => {
      const journal = await openAndFill(scene, 5);
      await expect(scene.open(4)).rejects.toMatchObject(FENCED);
      await journal.stream("a", epochOf(1)).append(Buffer.from("still here"));
      expect(await scene.texts()).toEqual(["5", "still here"]);
    },
    "of writers that open one after the other, each acknowledges only what the next one reads": async (
      scene,
    ) => {
      const acknowledged: Promise<string[]>[] = [];
      const read: string[][] = [];
      for (let revision = 1; revision <= 6; revision += 1) {
        const journal = await scene.open(revision);
        read.push(await scene.texts());
        acknowledged.push(appendUntilFenced(journal.stream("a", epochOf(revision)), `w${revision}`));
        await new Promise((resolve) => {
          setTimeout(resolve, 5 * revision);
        });
      }
      await scene.open(7);
      read.push(await scene.texts());
      const lists = await Promise.all(acknowledged);
      for (const [n, list] of lists.entries()) {
        expect(list.length).toBeGreaterThan(0);
        // The successor read it all when it opened, and nothing has come or gone since.
        const own = (texts: string[] | undefined): string[] =>
          texts?.filter((text) => text.startsWith(`w${n + 1}-`)) ?? [];
        expect(own(read[n + 1]).slice(0, list.length)).toEqual(list);
        expect(own(read[6])).toEqual(own(read[n + 1]));
      }
      expect(await scene.texts()).toEqual(read[6]);
    },
    "of writers that open at the same moment, one is left": async (scene) => {
      const opened = await Promise.all(
        [1, 2, 3, 3].map((revision) => scene.open(revision).catch((error: unknown) => error as JournalError)),
      );
      const outcomes = await Promise.all(
        opened.map(async (journal) => {
          if (journal instanceof Error) return journal.code;
          try {
            await journal.stream("a", epochOf(1)).append(Buffer.from("x"));
            return "acknowledged";
          } catch (error) {
            return (error as JournalError).code;
          }
        }),
      );
      expect(outcomes.filter((outcome) => outcome !== "JOURNAL_FENCED")).toEqual(["acknowledged"]);
      expect(await scene.texts()).toContain("x");
    },
    "a fenced stream ends alone, and is read the same ever after": async (scene) => {
      const journal = await scene.open(1);
      const [a, b] = [journal.stream("a", epochOf(1)), journal.stream("b", epochOf(1))];
      const acknowledged = appendUntilFenced(a, "a");
      await b.append(Buffer.from("b0"));
      await scene.fence("a", 2);
      const seen = await scene.texts({ stream: "a" });
      await b.append(Buffer.from("b1"));
      const list = await acknowledged;
      expect(seen.slice(0, list.length)).toEqual(list);
      await expect(a.append(Buffer.from("stale"))).rejects.toMatchObject(FENCED);
      expect(() => journal.stream("a", epochOf(1))).toThrow(expect.objectContaining(FENCED));
      await b.append(Buffer.from("b2"));
      expect(await scene.texts({ stream: "b" })).toEqual(["b0", "b1", "b2"]);
      expect(await scene.texts({ stream: "a" })).toEqual(seen);
      expect(journal.failure).toBeUndefined();
    },
    "what a writer adds to a fenced stream before it has noticed does not count, and the rest of the batch does":
      async (scene) => {
        const journal = await scene.open(1);
        const [a, b] = [journal.stream("a", epochOf(1)), journal.stream("b", epochOf(1))];
        await a.append(Buffer.from("one"));
        await scene.fence("a", 2);
        const stale = [a.append(Buffer.from("stale")), a.append(Buffer.from("staler"))];
        const fine = [b.append(Buffer.from("b1")), b.append(Buffer.from("b2"))];
        for (const each of stale) await expect(each).rejects.toMatchObject(FENCED);
        await Promise.all(fine);
        await scene.open(2);
        expect(await scene.texts({ stream: "a" })).toEqual(["one"]);
        expect(await scene.texts()).toEqual(["one", "b1", "b2"]);
      },
    "fences that come at the same moment all hold, and the rest goes on": async (scene) => {
      const journal = await scene.open(1);
      const ids = ["a", "b", "c"];
      const acknowledged = ids.map((id) => appendUntilFenced(journal.stream(id, epochOf(1)), id));
      const rest = journal.stream("rest", epochOf(1));
      await rest.append(Buffer.from("0"));
      await Promise.all(ids.map((id) => scene.fence(id, 2)));
      const seen = await Promise.all(ids.map((stream) => scene.texts({ stream })));
      await rest.append(Buffer.from("1"));
      const lists = await Promise.all(acknowledged);
      for (const [n, list] of lists.entries()) expect(seen[n]?.slice(0, list.length)).toEqual(list);
      await rest.append(Buffer.from("2"));
      expect(await Promise.all(ids.map((stream) => scene.texts({ stream })))).toEqual(seen);
      expect(await scene.texts({ stream: "rest" })).toEqual(["0", "1", "2"]);
    },
    "a fenced stream goes on in the same journal under the new epoch": async (scene) => {
      const journal = await scene.open(1);
      await journal.stream("a", epochOf(1)).append(Buffer.from("before"));
      await scene.fence("a", 2);
      await journal.stream("a", epochOf(2)).append(Buffer.from("after"));
      await scene.fence("a", 2);
      await journal.stream("a", epochOf(2)).append(Buffer.from("and on"));
      await scene.fence("a", 1);
      await journal.stream("a", epochOf(2)).append(Buffer.from("still"));
      expect(await scene.texts({ stream: "a" })).toEqual(["before", "after", "and on", "still"]);
    },
    "fences outlive the writer that met them": async (scene) => {
      await scene.open(1);
      await scene.fence("a", 5);
      await scene.fence("b", 6);
      for (const revision of [2, 3]) {
        const journal = await scene.open(revision);
        expect(() => journal.stream("a", epochOf(4))).toThrow(expect.objectContaining(FENCED));
        expect(() => journal.stream("b", epochOf(5))).toThrow(expect.objectContaining(FENCED));
        await journal.stream("a", epochOf(5)).append(Buffer.from(`${revision}`));
      }
      expect(await scene.texts()).toEqual(["2", "3"]);
    },
    "a stream may be fenced in a journal that nobody has opened yet": async (scene) => {
      await scene.fence("a", 5);
      const journal = await scene.open(1);
      expect(() => journal.stream("a", epochOf(4))).toThrow(expect.objectContaining(FENCED));
      await journal.stream("a", epochOf(5)).append(Buffer.from("x"));
      expect(await scene.texts()).toEqual(["x"]);
    },
    "a higher epoch of a stream ends the handle of a lower one, here": async (scene) => {
      const journal = await scene.open(1);
      const old = journal.stream("a", epochOf(1));
      const inFlight = old.append(Buffer.from("one"));
      const young = journal.stream("a", epochOf(2));
      expect(journal.stream("a", epochOf(2))).toBe(young);
      await expect(old.append(Buffer.from("stale"))).rejects.toMatchObject(FENCED);
      await inFlight;
      await young.append(Buffer.from("two"));
      expect(() => journal.stream("a", epochOf(1))).toThrow(expect.objectContaining(FENCED));
      expect(await scene.texts()).toEqual(["one", "two"]);
    },
  },
};
