import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Pages } from "./pages.ts";
import { SlatePages } from "./slate-pages.ts";

let folder: string;
const opened: Pages[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-pages-"));
});
afterEach(async () => {
  await Promise.allSettled(opened.splice(0).map((each) => each.close()));
  await rm(folder, { recursive: true });
});

async function open(name = "shard-0"): Promise<Pages> {
  const pages = await SlatePages.open({ place: { kind: "folder", folder }, name });
  opened.push(pages);
  return pages;
}

const page = (key: string, text = key) => ({ key, value: Buffer.from(text) });

async function texts(
  pages: Pages,
  prefix: string,
  options: { after?: string; limit: number },
): Promise<string[]> {
  const found = await pages.scan(prefix, options);
  return found.map(({ key, value }) => `${key}=${Buffer.from(value).toString()}`);
}

async function bytesIn(root: string): Promise<number> {
  const entries = await readdir(root, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(join(file.parentPath, file.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

test("keeps what was written, for whoever opens it next", async () => {
  const first = await open();
  await first.write({ put: [page("a/1"), page("a/2"), page("b/1", "x".repeat(100_000))], delete: [] });
  await first.write({ put: [page("a/2", "new")], delete: ["a/1"] });
  await first.close();
  const second = await open();
  expect(await second.get("a/1")).toBeUndefined();
  expect(Buffer.from((await second.get("a/2"))!).toString()).toBe("new");
  expect((await second.get("b/1"))!.length).toBe(100_000);
});

test("lists by prefix, in order, in pages", async () => {
  const pages = await open();
  await pages.write({ put: ["a", "a/1", "a/10", "a/2", "a0", "b/1"].map((key) => page(key)), delete: [] });
  expect(await texts(pages, "a/", { limit: 10 })).toEqual(["a/1=a/1", "a/10=a/10", "a/2=a/2"]);
  expect(await texts(pages, "a/", { limit: 2 })).toEqual(["a/1=a/1", "a/10=a/10"]);
  expect(await texts(pages, "a/", { limit: 2, after: "a/10" })).toEqual(["a/2=a/2"]);
  expect(await texts(pages, "", { limit: 10, after: "a/2" })).toEqual(["a0=a0", "b/1=b/1"]);
  expect(await texts(pages, "c", { limit: 10 })).toEqual([]);
});

test("refuses the writes of whoever had it open before, and keeps none of them", async () => {
  const former = await open();
  await former.write({ put: [page("k", "former")], delete: [] });
  const latter = await open();
  expect(Buffer.from((await latter.get("k"))!).toString()).toBe("former");
  await expect(former.write({ put: [page("k", "late"), page("l", "late")], delete: [] })).rejects.toThrow(
    /./,
  );
  await latter.write({ put: [page("k", "latter")], delete: [] });
  await latter.close();
  const last = await open();
  expect(await texts(last, "", { limit: 10 })).toEqual(["k=latter"]);
});

test("shards of one folder know nothing of each other", async () => {
  const [a, b] = [await open("a"), await open("b")];
  await a.write({ put: [page("k", "a")], delete: [] });
  await b.write({ put: [page("k", "b")], delete: [] });
  expect(Buffer.from((await a.get("k"))!).toString()).toBe("a");
});

test("a large batch is one step", async () => {
  const pages = await open();
  const put = Array.from({ length: 100 }, (_, index) =>
    page(`run/${String(index).padStart(3, "0")}`, "y".repeat(65_536)),
  );
  await pages.write({ put, delete: [] });
  expect(await texts(pages, "run/", { limit: 1_000 })).toHaveLength(100);
});

test("what need not be durable at once is there for readers, in order, and durable with what comes after", async () => {
  const first = await open();
  await first.write({ put: [page("a", "1"), page("b", "1")], delete: [], durable: false });
  await first.write({ put: [page("a", "2")], delete: ["b"], durable: false });
  expect(await texts(first, "", { limit: 10 })).toEqual(["a=2"]);
  await first.write({ put: [page("c", "1")], delete: [] });
  // Fences the first, which has flushed nothing of its own by then.
  const second = await open();
  expect(await texts(second, "", { limit: 10 })).toEqual(["a=2", "c=1"]);
});

test("what need not be durable at once is in no file before something is flushed, and does not grow in memory without end", async () => {
  const pages = await open();
  const before = await bytesIn(folder);
  const value = Buffer.alloc(1024 * 1024, 1);
  await pages.write({ put: [{ key: "first", value }], delete: [], durable: false });
  // Longer than it took SlateDB to write by itself, when it did.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect((await bytesIn(folder)) - before).toBeLessThan(value.length);
  for (let written = 1; written < 17; written += 1)
    await pages.write({ put: [{ key: `more/${written}`, value }], delete: [], durable: false });
  expect((await bytesIn(folder)) - before).toBeGreaterThanOrEqual(16 * value.length);
});

test("files that a power failure left without content do not keep a shard from being opened", async () => {
  const first = await open();
  await first.write({ put: [page("a", "1")], delete: [] });
  await first.close();
  for (const part of ["wal", "manifest"]) {
    const last = (await readdir(join(folder, "shard-0", part))).toSorted().at(-1)!;
    const [number, ending] = last.split(".") as [string, string];
    for (const more of [1, 2]) {
      const name = `${String(Number(number) + more).padStart(number.length, "0")}.${ending}`;
      await writeFile(join(folder, "shard-0", part, name), "");
    }
  }
  const second = await open();
  expect(await texts(second, "", { limit: 10 })).toEqual(["a=1"]);
  await second.write({ put: [page("b", "2")], delete: [] });
  await second.close();
  expect(await texts(await open(), "", { limit: 10 })).toEqual(["a=1", "b=2"]);
});
