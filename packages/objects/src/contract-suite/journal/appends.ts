/* oxlint-disable no-await-in-loop -- facts are stories: one step after the other. */
/** What was appended comes back; what does not fit is refused. */
import { expect } from "vitest";
import { JOURNAL_LIMITS } from "../../journal/contract.ts";
import { epochOf, type JournalFacts } from "./scene.ts";

export const appends: JournalFacts = {
  about: "appends",
  facts: {
    "a journal that nobody wrote is empty": async (scene) => {
      expect(await scene.batches()).toEqual([]);
      await scene.open(1);
      expect(await scene.batches()).toEqual([]);
    },
    "records come back in order, with their stream and epoch": async (scene) => {
      const journal = await scene.open(7);
      const [a, b] = [journal.stream("a", epochOf(3)), journal.stream("b", epochOf(4))];
      const sequences = await Promise.all([
        a.append(Buffer.from("one")),
        b.append(Buffer.from("two")),
        a.append(Buffer.from("three")),
      ]);
      expect(new Set(sequences).size).toBe(1);
      const [batch, ...others] = await scene.batches();
      expect(others).toEqual([]);
      expect(batch?.sequence).toBe(sequences[0]);
      expect(batch?.atMs).toBeGreaterThan(Date.UTC(2024));
      expect(batch?.records.map(({ stream, epoch, bytes }) => [stream, epoch, bytes.toString()])).toEqual([
        ["a", epochOf(3), "one"],
        ["b", epochOf(4), "two"],
        ["a", epochOf(3), "three"],
      ]);
    },
    "records that come while a flush is out share the next one": async (scene) => {
      const journal = await scene.open(1);
      const stream = journal.stream("a", epochOf(1));
      const first = stream.append(Buffer.from("0"));
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      const rest = Array.from({ length: 500 }, (_, n) => stream.append(Buffer.from(`${n + 1}`)));
      await Promise.all([first, ...rest]);
      expect(journal.stats).toMatchObject({ records: 501 });
      expect(journal.stats.batches).toBeLessThanOrEqual(3);
      expect(await scene.texts()).toEqual(Array.from({ length: 501 }, (_, n) => `${n}`));
    },
    "any bytes are a record: none, a zero, all values, a megabyte": async (scene) => {
      const journal = await scene.open(1, { gatherBytesMax: 4 * 1024 * 1024 });
      const stream = journal.stream("\u{1f600} any id ✓", epochOf(1));
      const records = [
        Buffer.alloc(0),
        Buffer.alloc(1),
        Buffer.from(Array.from({ length: 256 }, (_, n) => n)),
        Buffer.alloc(1024 * 1024, 7),
      ];
      for (const record of records) await stream.append(record);
      await Promise.all(records.map((record) => stream.append(record)));
      const read = (await scene.batches()).flatMap((batch) => batch.records.map(({ bytes }) => bytes));
      expect(read.map((bytes, n) => bytes.equals(records[n % 4]!))).toEqual(Array(8).fill(true));
    },
    "the record is copied: its buffer may be used again at once": async (scene) => {
      const stream = (await scene.open(1)).stream("a", epochOf(1));
      const buffer = Buffer.from("before");
      const durable = stream.append(buffer);
      buffer.write("AFTER!");
      await durable;
      expect(await scene.texts()).toEqual(["before"]);
    },
    "a thousand streams share a flush, and each is read alone": async (scene) => {
      const journal = await scene.open(1);
      const appended = Array.from({ length: 1000 }, (_, n) =>
        [0, 1].map((k) => journal.stream(`s${n}`, epochOf(n)).append(Buffer.from(`${n}-${k}`))),
      );
      await Promise.all(appended.flat());
      expect(journal.stats.batches).toBe(1);
      expect(await scene.texts({ stream: "s537" })).toEqual(["537-0", "537-1"]);
      expect(await scene.texts({ stream: "none" })).toEqual([]);
      expect((await scene.texts()).length).toBe(2000);
    },
    "a replay may begin at any sequence and end at any time": async (scene) => {
      const stream = (await scene.open(1)).stream("a", epochOf(1));
      const sequences: number[] = [];
      for (let n = 0; n < 10; n += 1) sequences.push(await stream.append(Buffer.from(`${n}`)));
      expect(sequences).toEqual(sequences.toSorted((x, y) => x - y));
      expect(await scene.texts({ from: sequences[7]! })).toEqual(["7", "8", "9"]);
      expect(await scene.texts({ from: sequences[9]! + 1 })).toEqual([]);
      for await (const batch of scene.read()) {
        expect(batch.records[0]?.bytes.toString()).toBe("0");
        break;
      }
    },
    "a journal that was closed is whole, and takes no more": async (scene) => {
      const journal = await scene.open(1, { gatherMs: 60_000 });
      const stream = journal.stream("a", epochOf(1));
      const durable = stream.append(Buffer.from("late"));
      await journal.close();
      await expect(durable).resolves.toBeGreaterThan(0);
      await expect(stream.append(Buffer.from("later"))).rejects.toMatchObject({ code: "JOURNAL_CLOSED" });
      expect(await scene.texts()).toEqual(["late"]);
    },
    "flush waits for what was appended, and does not wait for more": async (scene) => {
      const journal = await scene.open(1, { gatherMs: 60_000 });
      const stream = journal.stream("a", epochOf(1));
      await journal.flush();
      void stream.append(Buffer.from("one"));
      await journal.flush();
      expect(await scene.texts()).toEqual(["one"]);
      void stream.append(Buffer.from("two"));
      void stream.append(Buffer.from("three"));
      await Promise.all([journal.flush(), journal.flush()]);
      expect(await scene.texts()).toEqual(["one", "two", "three"]);
    },
    "a batch is flushed when it has enough records or bytes, or has waited long enough": async (scene) => {
      const byRecords = (await scene.open(1, { gatherMs: 60_000, flushRecords: 3 })).stream("a", epochOf(1));
      await Promise.all([1, 2, 3].map((n) => byRecords.append(Buffer.from(`${n}`))));
      const byBytes = (await scene.open(1, { gatherMs: 60_000, flushBytes: 100 })).stream("a", epochOf(1));
      await Promise.all([byBytes.append(Buffer.alloc(60)), byBytes.append(Buffer.alloc(60))]);
      const byTime = (await scene.open(1, { gatherMs: 30 })).stream("a", epochOf(1));
      const startedAt = performance.now();
      await byTime.append(Buffer.from("x"));
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(28);
      expect((await scene.texts()).length).toBe(6);
    },
    "more than may wait is refused, and taken after a flush": async (scene) => {
      const journal = await scene.open(1, { gatherBytesMax: 100_000, recordBytesMax: 60_000 });
      const stream = journal.stream("a", epochOf(1));
      const record = Buffer.alloc(45_000, 1);
      const taken = [stream.append(record), stream.append(record)];
      await expect(stream.append(record)).rejects.toMatchObject({ code: "JOURNAL_OVERLOADED" });
      await journal.flush();
      await stream.append(record);
      await Promise.all(taken);
      expect((await scene.texts()).length).toBe(3);
    },
    "a record or an id past its limit is refused and changes nothing": async (scene) => {
      const journal = await scene.open(1, { recordBytesMax: 10 });
      const refused = { code: "JOURNAL_REJECTED" };
      await expect(journal.stream("a", epochOf(1)).append(Buffer.alloc(11))).rejects.toMatchObject(refused);
      for (const id of ["", "x".repeat(JOURNAL_LIMITS.streamIdBytesMax + 1)])
        expect(() => journal.stream(id, epochOf(1))).toThrow(expect.objectContaining(refused));
      await journal.flush();
      expect(await scene.batches()).toEqual([]);
    },
  },
};
