import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CloneCache } from "./clone-cache.ts";
import { Credentials } from "./credentials.ts";
import { listFiles, readDocuments } from "./documents.ts";
import { Scratch } from "./fixtures/scratch.ts";
import { parseRemote } from "./remote.ts";

vi.setConfig({ testTimeout: 60_000 });

const limits = { fileBytesMax: 1_000, repositoryBytesMax: 1 << 20 };

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => scratch.remove());

interface Got {
  readonly documents: Record<string, string | undefined>;
  readonly submodules: number;
}

/** Fetches it, and reads all of it. */
function get(url: string): Promise<Got> {
  const credentials = new Credentials([], { now: () => 0, environment: {} });
  const folder = join(scratch.folder, "clones");
  const clones = new CloneCache({
    folder,
    credentials,
    mirror: undefined,
    clonesMax: 10,
    timeoutMs: 30_000,
    now: () => 0,
  });
  return clones.with(parseRemote(url), [], async (clone) => {
    const heads = await clone.look();
    await clone.fetch(heads);
    const list = await listFiles(clone.folder, heads, limits, "test");
    const documents: Got["documents"] = {};
    const read = readDocuments(clone.folder, list, { limits, known: () => false, what: "test" });
    for await (const { path, content } of read) documents[path] = content && Buffer.from(content).toString();
    return { documents, submodules: list.submodules };
  });
}

test("names are only names: hostile ones are listed, and lead nowhere", async () => {
  const path = scratch.repository("hostile", {
    "new\nline.txt": "1",
    'quo"te\\.txt': "2",
    "-rf": "3",
    "tab\there": "4",
    "ünï/çode": "5",
    "$(touch pwned)": "6",
  });
  const blob = scratch.git(path, "rev-parse", "HEAD:-rf").trim();
  scratch.git(path, "update-index", "--add", "--cacheinfo", `100644,${blob},a/…/b`);
  scratch.git(path, "commit", "--quiet", "-m", "odd");
  const { documents } = await get(path);
  expect(Object.keys(documents).sort()).toEqual(
    ["$(touch pwned)", "-rf", "a/…/b", "new\nline.txt", 'quo"te\\.txt', "tab\there", "ünï/çode"].sort(),
  );
  expect(documents["$(touch pwned)"]).toBe("6");
  expect(readdirSync(scratch.folder).sort()).toEqual(["clones", "hostile"]);
});

test("a name that is no UTF-8 is shown with replacement characters", async () => {
  const path = scratch.repository("latin", { "a.txt": "1" });
  writeFileSync(Buffer.concat([Buffer.from(`${path}/b`), Buffer.from([0xe9]), Buffer.from(".txt")]), "2");
  scratch.commit(path, {});
  expect((await get(path)).documents).toEqual({ "a.txt": "1", "b\ufffd.txt": "2" });
});

test("a link is its text, and is never followed out of the tree", async () => {
  writeFileSync(join(scratch.folder, "secret"), "do not tell");
  const path = scratch.repository("links", { "a.txt": "a" });
  symlinkSync("../secret", join(path, "out"));
  scratch.commit(path, {});
  expect((await get(path)).documents).toEqual({ "a.txt": "a", out: "../secret" });
  const plain = join(scratch.folder, "plain");
  scratch.write(plain, { "b.txt": "b" });
  symlinkSync("../secret", join(plain, "out"));
  expect((await get(plain)).documents).toEqual({ "b.txt": "b", out: "../secret" });
});

test("submodules are counted and left alone; files that are large or stored elsewhere are listed by path", async () => {
  const inner = scratch.repository("inner", { "i.txt": "i" });
  const path = scratch.repository("outer", {
    "big.txt": "x".repeat(1_001),
    "fits.txt": "y".repeat(1_000),
    "model.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n",
  });
  scratch.git(path, "submodule", "--quiet", "add", inner, "mod");
  scratch.commit(path, {});
  const got = await get(path);
  expect(got.submodules).toBe(1);
  expect(Object.keys(got.documents).sort()).toEqual([".gitmodules", "big.txt", "fits.txt", "model.bin"]);
  expect([got.documents["big.txt"], got.documents["model.bin"], got.documents["fits.txt"]?.length]).toEqual([
    undefined,
    undefined,
    1_000,
  ]);
});

test("one that is larger than allowed is refused before anything of it is read", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1_100 }, (_, i) => [`${i}`, String(i).padEnd(1_000, ".")]),
  );
  const path = scratch.repository("large", files);
  await expect(get(path)).rejects.toMatchObject({ code: "REPOSITORY_TOO_LARGE" });
});
