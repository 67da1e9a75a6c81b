/* oxlint-disable no-await-in-loop -- facts are stories: one step after the other. */
/** Trimming: what is needed stays, what is not goes, and asking for what is gone is told. */
import { expect } from "vitest";
import { epochOf, type JournalFacts } from "./scene.ts";

const SMALL = { segmentBytes: 2_000 };

export const trims: JournalFacts = {
  about: "trims",
  facts: {
    "what is below is gone, what is not stays, over openings too": async (scene) => {
      const sequences: number[] = [];
      for (const opening of [1, 2, 3]) {
        const stream = (await scene.open(opening, SMALL)).stream("a", epochOf(1));
        for (let n = 0; n < 10; n += 1)
          sequences.push(await stream.append(Buffer.from(`${sequences.length}`.padEnd(300))));
      }
      const journal = await scene.open(4, SMALL);
      for (const at of [5, 17, 25]) {
        await journal.trim(sequences[at]!);
        const texts = (await scene.texts()).map((text) => text.trim());
        expect(texts).toEqual(Array.from({ length: 30 - at }, (_, n) => `${at + n}`));
        await expect(scene.texts({ from: sequences[at - 1]! })).rejects.toMatchObject({
          code: "JOURNAL_TRIMMED",
        });
        expect((await scene.texts({ from: sequences[at]! })).length).toBe(30 - at);
      }
      await journal.trim(sequences[3]!);
      expect((await scene.texts()).length).toBe(5);
    },
    "a journal can be trimmed to nothing, and goes on": async (scene) => {
      const journal = await scene.open(1, SMALL);
      const stream = journal.stream("a", epochOf(1));
      for (let n = 0; n < 12; n += 1) await stream.append(Buffer.alloc(300, 1));
      await journal.trim(Number.MAX_SAFE_INTEGER);
      expect(await scene.batches()).toEqual([]);
      const next = await stream.append(Buffer.from("next"));
      expect(await scene.texts()).toEqual(["next"]);
      await journal.close();
      const again = (await scene.open(1)).stream("a", epochOf(1));
      expect(await again.append(Buffer.from("again"))).toBeGreaterThan(next);
      expect(await scene.texts()).toEqual(["next", "again"]);
    },
    "a writer that trimmed everything is ended by the next one all the same": async (scene) => {
      const old = await scene.open(1);
      const stream = old.stream("a", epochOf(1));
      for (let n = 0; n < 5; n += 1) await stream.append(Buffer.from("old"));
      await old.trim(Number.MAX_SAFE_INTEGER);
      await scene.open(2);
      await expect(stream.append(Buffer.from("stale"))).rejects.toMatchObject({ code: "JOURNAL_FENCED" });
      expect(await scene.batches()).toEqual([]);
    },
    "a writer that was ended finds so also after everything was trimmed": async (scene) => {
      const old = (await scene.open(1)).stream("a", epochOf(1));
      await old.append(Buffer.from("old"));
      const journal = await scene.open(2);
      const stream = journal.stream("a", epochOf(2));
      for (let n = 0; n < 5; n += 1) await stream.append(Buffer.from("new"));
      await journal.trim(Number.MAX_SAFE_INTEGER);
      await expect(old.append(Buffer.from("stale"))).rejects.toMatchObject({ code: "JOURNAL_FENCED" });
      expect(await scene.batches()).toEqual([]);
    },
  },
};
