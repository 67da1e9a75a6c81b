import type { ChangeBatch, Revision, WatchSink } from "@keelson/kernel";
import { ManualClock } from "@keelson/testkit";
import { beforeEach, expect, test } from "vitest";
import type { LogPage } from "./change-log.ts";
import { ChangeFeed } from "./change-feed.ts";

const PAGE = 2;

/** A log in memory, whose follower is answered when the test says so. */
class FakeLog {
  batches: ChangeBatch[] = [];
  floor = 0;
  incarnation = "one";
  following = 0;
  reads = 0;
  /** Reads wait for this. */
  gate: Promise<void> = Promise.resolve();
  #waiting: { after: Revision; resolve: (page: LogPage) => void; reject: (error: Error) => void } | undefined;

  put(key: string): void {
    const revision = this.floor + this.batches.length + 1;
    const { incarnation } = this;
    const change = { kind: "put", entry: { key, value: `v${revision}`, revision } } as const;
    this.batches.push({ revision, incarnation, changes: [change] });
  }

  async read(after: Revision): Promise<LogPage> {
    this.reads += 1;
    await this.gate;
    if (after < this.floor) return { relist: "too old" };
    return { batches: this.#above(after).slice(0, PAGE) };
  }

  follow(): { next: (after: Revision) => Promise<LogPage>; close: () => void } {
    this.following += 1;
    let open = true;
    return {
      next: (after) =>
        new Promise((resolve, reject) => {
          this.#waiting = { after, resolve, reject };
        }),
      close: () => {
        if (!open) return;
        open = false;
        this.following -= 1;
        this.fail("closed");
      },
    };
  }

  /** Answers the follower with what there is. */
  async tell(page?: LogPage): Promise<void> {
    await settle();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(page ?? { batches: this.#above(waiting.after) });
    await settle();
  }

  fail(reason: string): void {
    this.#waiting?.reject(new Error(reason));
    this.#waiting = undefined;
  }

  #above(after: Revision): ChangeBatch[] {
    return this.batches.filter(({ revision }) => revision > after);
  }
}

async function settle(): Promise<void> {
  for (let n = 0; n < 30; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- lets every promise that is due run.
    await Promise.resolve();
  }
}

let log: FakeLog;
let clock: ManualClock;
let feed: ChangeFeed;
let watched: boolean[];

beforeEach(() => {
  log = new FakeLog();
  clock = new ManualClock();
  watched = [];
  feed = new ChangeFeed({ clock, log, watched: (any) => void watched.push(any) });
});

/** What a sink was told, in words. */
function recorder(): { told: string[]; sink: WatchSink } {
  const told: string[] = [];
  return {
    told,
    sink: {
      changes: ({ revision, changes }) =>
        void told.push(
          `${revision}:${changes.map((each) => (each.kind === "put" ? each.entry.key : each.key)).join()}`,
        ),
      relist: () => void told.push("relist"),
      closed: (reason) => void told.push(`closed ${reason}`),
    },
  };
}

test("a watch reads what it missed, page by page, and then what comes", async () => {
  for (const key of ["a", "b", "c", "d", "e"]) log.put(key);
  const { told, sink } = recorder();
  feed.watch("", 1, sink);
  expect(told).toEqual([]);
  await log.tell();
  log.put("f");
  await log.tell();
  expect(told).toEqual(["2:b", "3:c", "4:d", "5:e", "6:f"]);
});

test("a watch that joins others reads for itself first, and all have one reader", async () => {
  const [first, second] = [recorder(), recorder()];
  feed.watch("", 0, first.sink);
  for (const key of ["a", "b", "c", "d", "e"]) log.put(key);
  await log.tell();
  feed.watch("", 1, second.sink);
  await settle();
  log.put("f");
  await log.tell();
  expect(second.told).toEqual(["2:b", "3:c", "4:d", "5:e", "6:f"]);
  expect(first.told).toEqual(["1:a", ...second.told]);
  expect(log.following).toBe(1);
});

test("a watch that is ahead of the others is not told again what it knows", async () => {
  const [first, second] = [recorder(), recorder()];
  feed.watch("", 0, first.sink);
  await settle();
  log.put("a");
  log.put("b");
  feed.watch("", 2, second.sink);
  await log.tell();
  log.put("c");
  await log.tell();
  expect(first.told).toEqual(["1:a", "2:b", "3:c"]);
  expect(second.told).toEqual(["3:c"]);
});

test("what is no longer in the log makes a watch list again", async () => {
  log.floor = 5;
  log.put("a");
  const { told, sink } = recorder();
  feed.watch("", 3, sink);
  await settle();
  expect(told).toEqual(["relist"]);
  expect([log.following, watched]).toEqual([0, [true, false]]);
});

test("a gap in what comes makes every watch list again", async () => {
  const { told, sink } = recorder();
  feed.watch("x/", 0, sink);
  await settle();
  for (const key of ["a", "b", "c"]) log.put(key);
  await log.tell({ batches: log.batches.slice(2) });
  expect(told).toEqual(["relist"]);
});

test("another incarnation makes every watch list again, whether the log or a reply names it", async () => {
  const [first, second] = [recorder(), recorder()];
  feed.watch("", 0, first.sink);
  await settle();
  log.put("a");
  await log.tell();
  log.incarnation = "two";
  log.put("b");
  await log.tell();
  expect(first.told).toEqual(["1:a", "relist"]);
  feed.watch("", 2, second.sink);
  await settle();
  feed.notice("two");
  feed.notice("three");
  expect(second.told).toEqual(["relist"]);
});

test("a lost connection ends watches as closed, and the next one begins anew", async () => {
  const [first, second] = [recorder(), recorder()];
  feed.watch("", 0, first.sink);
  await settle();
  log.put("a");
  await log.tell();
  await settle();
  log.fail("cut");
  await settle();
  expect(first.told).toEqual(["1:a", "closed cut"]);
  log.put("b");
  feed.watch("", 1, second.sink);
  await log.tell();
  log.put("c");
  await log.tell();
  expect(second.told).toEqual(["2:b", "3:c"]);
  expect(log.following).toBe(1);
});

test("a watch whose keys stay as they are is told after a second how far it is", async () => {
  const { told, sink } = recorder();
  feed.watch("mine/", 0, sink);
  await settle();
  log.put("theirs/a");
  log.put("theirs/b");
  await log.tell();
  expect(told).toEqual([]);
  await clock.advance(1_000);
  expect(told).toEqual(["2:"]);
  await clock.advance(5_000);
  expect(told).toEqual(["2:"]);
  log.put("mine/c");
  await log.tell();
  expect(told).toEqual(["2:", "3:mine/c"]);
});

test("closing the last watch lets the connection and every timer go", async () => {
  const [first, second] = [recorder(), recorder()];
  const watches = [feed.watch("x", 0, first.sink), feed.watch("", 0, second.sink)];
  await settle();
  log.put("a");
  await log.tell();
  watches[1]?.close();
  expect([log.following, clock.timers, watched]).toEqual([1, 1, [true]]);
  watches[0]?.close();
  await settle();
  expect([log.following, clock.timers, watched]).toEqual([0, 0, [true, false]]);
  expect([first.told, second.told]).toEqual([[], ["1:a"]]);
});

test("a watch that is closed while it catches up is told nothing more", async () => {
  log.put("a");
  let open = (): void => {};
  log.gate = new Promise((resolve) => {
    open = resolve;
  });
  const { told, sink } = recorder();
  const watch = feed.watch("", 0, sink);
  watch.close();
  open();
  await settle();
  expect([told, log.following]).toEqual([[], 0]);
});
