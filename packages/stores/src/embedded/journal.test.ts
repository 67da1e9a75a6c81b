import type { Write } from "@keelson/kernel";
import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { StoreCore } from "../core/store-core.ts";
import { LocalStore } from "../local/local-store.ts";
import { StoreDriver } from "../local/store-driver.ts";
import type { Changes, StoreRecord } from "./data-file.ts";
import { Journal } from "./journal.ts";

/** A disk that finishes or fails a transaction when the test says so. */
class Disk {
  readonly transactions: {
    record: StoreRecord;
    changes: Changes;
    finish: () => void;
    fail: (cause: Error) => void;
  }[] = [];
  readonly marks: number[] = [];

  write(record: StoreRecord, changes: Changes): Promise<void> {
    return new Promise((finish, fail) => {
      this.transactions.push({ record, changes, finish, fail });
    });
  }
}

function open() {
  const disk = new Disk();
  const clock = new ManualClock();
  const record: StoreRecord = { format: 1, incarnation: "i", revision: 0, sequence: 1, sessionsOpened: 0 };
  const journal: Journal = new Journal(
    disk,
    { write: ({ sequence }) => void disk.marks.push(sequence) },
    record,
    {
      durable: (revision) => core.release(revision),
      failed: (cause) => driver.stop(`disk: ${String(cause)}`),
    },
  );
  const core = new StoreCore({
    now: () => clock.now(),
    wall: () => clock.wall(),
    incarnation: "i",
    journal,
    holdWatches: true,
  });
  const driver: StoreDriver = new StoreDriver(core, clock, journal);
  const store = new LocalStore(driver);
  const heard: string[] = [];
  store.watch("", 0, {
    changes: ({ revision }) => void heard.push(`watch ${revision}`),
    relist: () => void heard.push("relist"),
    closed: (reason) => void heard.push(`closed: ${reason}`),
  });
  const put = (key: string, session?: string): Write => ({ kind: "put", key, value: "v", session });
  const commit = (...writes: Write[]) =>
    store.commit({ guards: [], writes }, { timeoutMs: 1000, incarnation: "i" });
  const hear = (promise: Promise<{ revision: number }>, name: string): void =>
    void promise.then(
      ({ revision }) => heard.push(`${name} ${revision}`),
      (error: unknown) => heard.push(`${name} ${(error as { code: string }).code}`),
    );
  return { disk, clock, store, heard, put, commit, hear };
}

test("replies, reads and watches wait for the disk, and what came meanwhile shares the next transaction", async () => {
  const { disk, clock, store, heard, put, commit, hear } = open();
  hear(commit(put("a")), "commit");
  await clock.advance(1);
  hear(commit(put("a"), put("b")), "commit");
  hear(commit(put("a")), "commit");
  hear(store.range("", { timeoutMs: 1000 }), "range");
  await clock.advance(1);
  expect([disk.transactions.length, heard]).toEqual([1, []]);
  disk.transactions[0]?.finish();
  await clock.advance(1);
  expect([disk.transactions.length, disk.marks, heard]).toEqual([2, [2], ["watch 1", "commit 1"]]);
  disk.transactions[1]?.finish();
  await clock.advance(1);
  expect(heard.slice(2)).toEqual(["watch 2", "watch 3", "commit 2", "commit 3", "range 3"]);
  expect([...(disk.transactions[1]?.changes.keys.keys() ?? [])]).toEqual(["a", "b"]);
  expect(disk.transactions[1]?.record).toMatchObject({ revision: 3, sequence: 3 });
});

test("a read with nothing unwritten does not wait", async () => {
  const { clock, store, heard, hear } = open();
  hear(store.range("", { timeoutMs: 1000 }), "range");
  await clock.advance(0);
  expect(heard).toEqual(["range 0"]);
});

test("sessions are written when they open and when they end, with the keys that go", async () => {
  const { disk, clock, store, put, commit } = open();
  const opening = store.openSession(50, { timeoutMs: 1000 });
  await clock.advance(1);
  disk.transactions[0]?.finish();
  const { session } = await opening;
  void commit(put("a", session));
  await clock.advance(1);
  disk.transactions[1]?.finish();
  await clock.advance(100);
  expect(disk.transactions.map(({ changes }) => [[...changes.keys.keys()], [...changes.sessions]])).toEqual([
    [[], [[session, 50]]],
    [["a"], []],
    [["a"], [[session, undefined]]],
  ]);
  expect(disk.transactions[2]?.changes.keys.get("a")).toBeUndefined();
  expect(disk.transactions.at(-1)?.record.sessionsOpened).toBe(1);
});

test("a disk that is slower than a call's deadline leaves a write unknown and a read unavailable", async () => {
  const { clock, store, heard, put, commit, hear } = open();
  hear(commit(put("a")), "commit");
  hear(store.range("", { timeoutMs: 1000 }), "range");
  await clock.advance(1001);
  expect(heard).toEqual(["commit STORE_UNKNOWN", "range STORE_UNAVAILABLE"]);
});

test("after a failed transaction nothing unwritten is told to anyone, and every call is refused", async () => {
  const { disk, clock, store, heard, put, commit, hear } = open();
  hear(commit(put("a")), "commit");
  await clock.advance(1);
  hear(commit(put("b")), "commit");
  hear(store.range("", { timeoutMs: 1000 }), "range");
  disk.transactions[0]?.fail(new Error("no space"));
  await clock.advance(1);
  expect(heard).toEqual([
    "closed: disk: Error: no space",
    "commit STORE_UNKNOWN",
    "commit STORE_UNKNOWN",
    "range STORE_UNAVAILABLE",
  ]);
  await expect(commit(put("c"))).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: "disk: Error: no space",
  });
  await expect(store.renew([], { timeoutMs: 1000 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await clock.advance(5000);
  expect(disk.transactions).toHaveLength(1);
});
