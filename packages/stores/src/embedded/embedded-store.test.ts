import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "@keelson/kernel";
import { ManualClock } from "@keelson/testkit";
import { storeContract, type StoreHarness } from "@keelson/testkit/store-contract";
import { open as openLmdb } from "lmdb";
import { afterAll, expect, test } from "vitest";
import { EmbeddedStore } from "./embedded-store.ts";

const root = mkdtempSync(join(tmpdir(), "keelson-embedded-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

function newFolder(): string {
  folders += 1;
  return join(root, `${folders}`);
}

const HISTORY_MAX = 200;
const call = { timeoutMs: 5_000 };

function openIn(folder: string, clock = new ManualClock()): Promise<EmbeddedStore> {
  return EmbeddedStore.open({ folder, clock, random: Math.random, historyMax: HISTORY_MAX });
}

async function put(store: Store, key: string, value: string, session?: string): Promise<void> {
  const { incarnation } = await store.range("", call);
  await store.commit(
    { guards: [], writes: [{ kind: "put", key, value, session }] },
    { ...call, incarnation },
  );
}

/** The embedded store on a manual clock; disks take real time, so a sleep also lets them. */
class EmbeddedHarness implements StoreHarness {
  readonly ttlMs = 1000;
  readonly graceMs = 1;
  readonly #folder: string;
  readonly #clock: ManualClock;
  #store: EmbeddedStore;
  #second: Store;

  private constructor(folder: string, clock: ManualClock, store: EmbeddedStore) {
    this.#folder = folder;
    this.#clock = clock;
    this.#store = store;
    this.#second = store.connect();
  }

  static async open(): Promise<EmbeddedHarness> {
    const folder = newFolder();
    const clock = new ManualClock();
    return new EmbeddedHarness(folder, clock, await openIn(folder, clock));
  }

  get store(): Store {
    return this.#store;
  }

  get second(): Store {
    return this.#second;
  }

  async sleep(ms: number): Promise<void> {
    await this.#clock.advance(ms);
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
  }

  async restart(): Promise<void> {
    await this.#store.close();
    this.#store = await openIn(this.#folder, this.#clock);
    this.#second = this.#store.connect();
  }

  async forget(): Promise<void> {
    await Promise.all(Array.from({ length: HISTORY_MAX + 1 }, (_, n) => put(this.#store, "/churn", `${n}`)));
  }

  async close(): Promise<void> {
    await this.#store.close();
    if (this.#clock.timers > 0) throw new Error("a closed store left a timer behind");
  }
}

storeContract("embedded store", () => EmbeddedHarness.open());

test("a data file that was swapped for an older one gets a new incarnation, and keeps its keys", async () => {
  const folder = newFolder();
  const first = await openIn(folder);
  await put(first, "/a", "old");
  const before = await first.range("", call);
  await first.close();
  copyFileSync(join(folder, "data.mdb"), join(folder, "backup"));
  const second = await openIn(folder);
  expect([second.origin, (await second.range("", call)).incarnation]).toEqual(["kept", before.incarnation]);
  await put(second, "/a", "new");
  await second.close();
  copyFileSync(join(folder, "backup"), join(folder, "data.mdb"));
  const third = await openIn(folder);
  const after = await third.range("", call);
  expect(third.origin).toBe("older data than before");
  expect(after.entries.map(({ value }) => value)).toEqual(["old"]);
  expect(after.incarnation).not.toBe(before.incarnation);
  expect(after.revision).toBe(2);
  await third.close();
  const fourth = await openIn(folder);
  expect([fourth.origin, (await fourth.range("", call)).incarnation]).toEqual(["kept", after.incarnation]);
  await fourth.close();
});

test("an older data file that lacks only a session is noticed too", async () => {
  const folder = newFolder();
  const first = await openIn(folder);
  await put(first, "/a", "1");
  await first.close();
  copyFileSync(join(folder, "data.mdb"), join(folder, "backup"));
  const second = await openIn(folder);
  await second.openSession(1000, call);
  await second.close();
  copyFileSync(join(folder, "backup"), join(folder, "data.mdb"));
  const third = await openIn(folder);
  expect(third.origin).toBe("older data than before");
  await third.close();
});

test.each(["", "gibberish", "1 x y z"])(
  "data whose mark is lost (%j) gets a new incarnation",
  async (mark) => {
    const folder = newFolder();
    const first = await openIn(folder);
    await put(first, "/a", "1");
    const { incarnation } = await first.range("", call);
    await first.close();
    if (mark === "") rmSync(join(folder, "high-water"));
    else writeFileSync(join(folder, "high-water"), mark);
    const second = await openIn(folder);
    expect(second.origin).toBe("data without its mark");
    expect((await second.range("", call)).incarnation).not.toBe(incarnation);
    await second.close();
  },
);

async function filled(): Promise<string> {
  const folder = newFolder();
  const store = await openIn(folder);
  await Promise.all(Array.from({ length: 500 }, (_, n) => put(store, `/${n}`, "x".repeat(200))));
  await store.close();
  return folder;
}

test("data that was taken away is reported, and nothing is begun in its place", async () => {
  const folder = await filled();
  const data = join(folder, "data.mdb");
  const gone = {
    code: "FOLDER_CORRUPT",
    message: expect.stringMatching(
      /held a store at revision 500, but its data\.mdb is gone or empty/,
    ) as unknown,
  };
  truncateSync(data, 0);
  await expect(openIn(folder)).rejects.toMatchObject(gone);
  rmSync(data);
  await expect(openIn(folder)).rejects.toMatchObject(gone);
  expect(existsSync(data)).toBe(false);
  await openLmdb({ path: folder, noSubdir: false }).close();
  await expect(openIn(folder)).rejects.toMatchObject(gone);
});

test("a damaged data file is reported in one line, and is not touched", async () => {
  const folder = await filled();
  const data = join(folder, "data.mdb");
  const whole = readFileSync(data);
  const damages = [
    Buffer.from("not lmdb at all, but long enough to be one\n".repeat(1000)),
    Buffer.from("short"),
    whole.subarray(0, 5000),
    whole.subarray(0, whole.length / 2),
  ];
  for (const damage of damages) {
    writeFileSync(data, damage);
    // oxlint-disable-next-line no-await-in-loop -- one folder.
    await expect(openIn(folder)).rejects.toMatchObject({
      code: "FOLDER_CORRUPT",
      message: expect.stringMatching(
        /^.*data\.mdb is damaged or not a store of ours \(.*\): put a backup in its place.*$/,
      ) as unknown,
    });
    expect(readFileSync(data).equals(damage)).toBe(true);
  }
  writeFileSync(data, whole);
  const store = await openIn(folder);
  expect([store.origin, (await store.range("", call)).entries.length]).toEqual(["kept", 500]);
  await store.close();
});

test("the lmdb file of another program is reported, and is not touched", async () => {
  const folder = newFolder();
  const other = openLmdb({ path: folder, noSubdir: false });
  await other.openDB({ name: "theirs" }).put("a", 1);
  await other.close();
  const before = readFileSync(join(folder, "data.mdb"));
  await expect(openIn(folder)).rejects.toMatchObject({
    code: "FOLDER_CORRUPT",
    message: expect.stringContaining("theirs") as unknown,
  });
  expect(readFileSync(join(folder, "data.mdb")).equals(before)).toBe(true);
});

test("a data file that is a folder is reported", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "data.mdb"), { recursive: true });
  await expect(openIn(folder)).rejects.toMatchObject({ code: "FOLDER_CORRUPT" });
});

test("one process opens a folder once, and may open it again when it has closed it", async () => {
  const folder = newFolder();
  const store = await openIn(folder);
  await expect(openIn(folder)).rejects.toMatchObject({ code: "FOLDER_HELD" });
  await store.close();
  await store.close();
  await (await openIn(folder)).close();
});

test("nobody hears of a change before it is on disk, and many share one sync", async () => {
  const folder = newFolder();
  const store = await openIn(folder);
  const heard: string[] = [];
  store.watch("/", 0, {
    changes: ({ revision }) => void heard.push(`watch ${revision}`),
    relist: () => {},
    closed: () => {},
  });
  const marks = (): string => readFileSync(join(folder, "high-water"), "utf8").trim().split(" ")[2] ?? "";
  const before = Number(marks());
  await Promise.all(
    Array.from({ length: 64 }, async (_, n) => {
      await put(store, `/${n}`, "v");
      heard.push(`reply, mark ${Number(marks()) - before}`);
    }),
  );
  expect(heard[0]).toBe("watch 1");
  expect(new Set(heard.filter((line) => line.startsWith("reply"))).size).toBeLessThanOrEqual(3);
  expect(heard.filter((line) => line.startsWith("reply, mark 0"))).toEqual([]);
  await store.close();
});
