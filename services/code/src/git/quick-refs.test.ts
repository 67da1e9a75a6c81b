/** What is read of a repository without git must be what git says of it. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { getEventListeners } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { GitServer, Scratch } from "./fixtures/scratch.ts";
import { FolderRefs } from "./folder-refs.ts";
import { listHeads, type RemoteHeads } from "./heads.ts";
import { HttpRefs } from "./http-refs.ts";
import { packetsOf } from "./packets.ts";

vi.setConfig({ testTimeout: 60_000 });

let scratch: Scratch;
let server: GitServer | undefined;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  scratch.remove();
});

const sorted = (heads: RemoteHeads | undefined): unknown =>
  heads && [heads.defaultBranch, [...heads.branches].map(String).sort()];
const asGit = async (path: string): Promise<unknown> => sorted(await listHeads(path, { what: "test" }));

/** A repository in each of the states that they are found in. */
const STATES: readonly (readonly [string, (path: string) => string | void])[] = [
  ["with one branch", () => undefined],
  [
    "with packed and loose branches, tags, and folders of them",
    (path) => {
      for (const name of ["a/b/c", "a/d", "rel-1", "ünï"]) scratch.git(path, "branch", name);
      scratch.git(path, "tag", "-a", "v1", "-m", "one");
      scratch.git(path, "pack-refs", "--all");
      scratch.commit(path, { "x.txt": "newer" });
      scratch.git(path, "branch", "loose");
      scratch.git(path, "branch", "-D", "a/d");
    },
  ],
  [
    "at a commit without a branch",
    (path) => {
      scratch.git(path, "checkout", "--quiet", "--detach");
      scratch.commit(path, { "x.txt": "detached" });
    },
  ],
  [
    "at a commit that several branches are at, packed and not",
    (path) => {
      for (const name of ["c", "d"]) scratch.git(path, "branch", name);
      scratch.git(path, "pack-refs", "--all");
      for (const name of ["b", "e"]) scratch.git(path, "branch", name);
      scratch.git(path, "checkout", "--quiet", "--detach");
    },
  ],
  ["whose HEAD leads nowhere", (path) => void scratch.git(path, "symbolic-ref", "HEAD", "refs/heads/none")],
  ["whose default branch was renamed", (path) => void scratch.git(path, "branch", "-m", "main", "trunk")],
  [
    "without commits",
    (path) => {
      rmSync(path, { recursive: true });
      scratch.git(scratch.folder, "init", "--quiet", path);
    },
  ],
  [
    "with names of SHA-256",
    (path) => {
      rmSync(path, { recursive: true });
      scratch.git(scratch.folder, "init", "--quiet", "--object-format=sha256", path);
      scratch.commit(path, { "a.txt": "a" });
    },
  ],
  [
    "that is bare",
    (path) => {
      scratch.git(scratch.folder, "clone", "--quiet", "--bare", path, `${path}.git`);
      return `${path}.git`;
    },
  ],
  [
    "that is a worktree of another",
    (path) => {
      scratch.git(path, "worktree", "add", "--quiet", "-b", "side", `${path}-side`);
      return `${path}-side`;
    },
  ],
  [
    "that borrows objects",
    (path) => {
      scratch.git(scratch.folder, "clone", "--quiet", "--shared", path, `${path}-shared`);
      return `${path}-shared`;
    },
  ],
];

describe("in a folder", () => {
  test.each(STATES)("one %s is read as git reads it", async (_, prepare) => {
    const path = scratch.repository("one", { "a.txt": "a" });
    const there = prepare(path) ?? path;
    const refs = new FolderRefs();
    const expected = await asGit(there);
    for (let times = 0; times < 2; times++) expect(sorted(await refs.read(there))).toEqual(expected);
  });

  test("a branch that moves, comes, goes or is packed is seen at once", async () => {
    const path = scratch.repository("one", { "a.txt": "a" });
    const refs = new FolderRefs();
    for (const change of [
      ["commit", "--quiet", "--allow-empty", "-m", "x"],
      ["branch", "new"],
      ["pack-refs", "--all"],
      ["branch", "-D", "new"],
      ["commit", "--quiet", "--amend", "--allow-empty", "-m", "y"],
    ]) {
      scratch.git(path, ...change);
      expect(sorted(await refs.read(path))).toEqual(await asGit(path));
    }
  });

  test("what it does not know is left to git", async () => {
    const path = scratch.repository("one", { "a.txt": "a" });
    const refs = new FolderRefs();
    expect(await refs.read(join(scratch.folder, "nothing"))).toBeUndefined();
    scratch.git(path, "symbolic-ref", "refs/heads/alias", "refs/heads/main");
    expect(await refs.read(path)).toBeUndefined();
    scratch.git(path, "symbolic-ref", "--delete", "refs/heads/alias");
    expect(await refs.read(path)).toBeDefined();
    scratch.git(path, "config", "transfer.hideRefs", "refs/heads/secret");
    expect(await refs.read(path)).toBeUndefined();
    const odd = join(scratch.folder, "odd");
    mkdirSync(odd);
    writeFileSync(join(odd, ".git"), "gitdir: /nonexistent\n");
    expect(await refs.read(odd)).toBeUndefined();
  });

  test("a HEAD that is a link, as git made them once, is left to git", async () => {
    const path = scratch.repository("one", { "a.txt": "a" });
    scratch.git(path, "branch", "before");
    rmSync(join(path, ".git", "HEAD"));
    symlinkSync("refs/heads/main", join(path, ".git", "HEAD"));
    expect(await new FolderRefs().read(path)).toBeUndefined();
  });

  test.each(["main copy", ".main", "main~", "main."])(
    "a file beside branches that is none, %j, is left to git",
    async (name) => {
      const path = scratch.repository("one", { "a.txt": "a" });
      const heads = join(path, ".git", "refs", "heads");
      copyFileSync(join(heads, "main"), join(heads, name));
      expect(await new FolderRefs().read(path)).toBeUndefined();
    },
  );

  test.each(["unterminated", "no commit's name"])(
    "packed branches that are damaged are left to git: %s",
    async (how) => {
      const path = scratch.repository("one", { "a.txt": "a" });
      scratch.git(path, "branch", "other");
      scratch.git(path, "pack-refs", "--all");
      const packed = join(path, ".git", "packed-refs");
      const text = readFileSync(packed, "utf8");
      const damaged = how === "unterminated" ? text.slice(0, -3) : text.replace(/[0-9a-f]{40}/, "zzz");
      writeFileSync(packed, damaged);
      expect(await new FolderRefs().read(path)).toBeUndefined();
    },
  );

  test("a branch whose file is too long to be one is not taken from what was packed before", async () => {
    const path = scratch.repository("one", { "a.txt": "a" });
    scratch.git(path, "pack-refs", "--all");
    writeFileSync(join(path, ".git", "refs", "heads", "main"), " ".repeat(100_000));
    expect(await new FolderRefs().read(path)).toBeUndefined();
  });

  test.each(["config", "HEAD", "packed-refs"])(
    "a pipe in the place of %s keeps nobody waiting",
    async (name) => {
      const path = scratch.repository("one", { "a.txt": "a" });
      const pipe = join(path, ".git", name);
      rmSync(pipe, { force: true });
      execFileSync("mkfifo", [pipe]);
      // Who waits for somebody to write would wait for ever, on one of the few threads that read files.
      const waiting = setTimeout(() => writeFileSync(pipe, ""), 20_000);
      const began = Date.now();
      expect(await new FolderRefs().read(path)).toBeUndefined();
      clearTimeout(waiting);
      expect(Date.now() - began).toBeLessThan(15_000);
    },
  );
});

describe("on a server", () => {
  const looking = { what: "test", timeoutMs: 30_000 };
  const bound = (): { username: string; password: string; origin: string } => ({
    username: "x",
    password: "s3cret",
    origin: `http://${server!.host}`,
  });

  async function serve(): Promise<string> {
    const path = scratch.repository("one", { "a.txt": "a" });
    scratch.git(path, "branch", "other/one");
    scratch.git(scratch.folder, "clone", "--quiet", "--bare", path, "served/one.git");
    server = await GitServer.start(join(scratch.folder, "served"));
    return `http://${server.host}/one.git`;
  }

  test("branches are those that git finds, and the second time one request tells them", async () => {
    const url = await serve();
    const refs = new HttpRefs(() => 0);
    const expected = await asGit(url);
    expect(sorted(await refs.read(url, looking))).toEqual(expected);
    const before = server!.requests.length;
    expect(sorted(await refs.read(url, looking))).toEqual(expected);
    expect(server!.requests.slice(before)).toHaveLength(1);
  });

  test("a password is shown when it is asked for, and a wrong one is left to git", async () => {
    const url = await serve();
    const expected = await asGit(url);
    server!.token = "s3cret";
    const refs = new HttpRefs(() => 0);
    for (let times = 0; times < 2; times++)
      expect(sorted(await refs.read(url, { ...looking, credential: bound() }))).toEqual(expected);
    const wrong = { ...looking, credential: { ...bound(), password: "wrong" } };
    expect(await refs.read(url, wrong)).toBeUndefined();
    expect(await new HttpRefs(() => 0).read(url, wrong)).toBeUndefined();
    expect(await new HttpRefs(() => 0).read(url, looking)).toBeUndefined();
  });

  test("nothing of a look stays with the signal that ends it, nor a connection once it is closed", async () => {
    const url = await serve();
    const refs = new HttpRefs(() => 0);
    const { signal } = new AbortController();
    for (let times = 0; times < 3; times++) await refs.read(url, { ...looking, signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
    // Signals made of others stay with them, as long as these are: those of a repository are for weeks.
    const own: Record<symbol, unknown> = signal as never;
    const made = Object.getOwnPropertySymbols(signal).map(
      (key) => (own[key] as Set<unknown> | null)?.size ?? 0,
    );
    expect(Math.max(0, ...made)).toBe(0);
    expect(await server!.connections()).toBe(1);
    refs.close();
    await vi.waitFor(async () => expect(await server!.connections()).toBe(0), { timeout: 10_000 });
  });

  test("a redirect, a page, half an answer and nobody at all are left to git, and for a while asked no more", async () => {
    let asked = 0;
    let answer: (path: string) => {
      status: number;
      type?: string;
      location?: string;
      body?: string;
    } = () => ({
      status: 302,
      location: "http://127.0.0.1:1/elsewhere",
    });
    const other = createServer((request, response) => {
      asked++;
      const { status, type = "text/html", location, body = "" } = answer(request.url ?? "");
      response.writeHead(status, { "content-type": type, ...(location === undefined ? {} : { location }) });
      response.end(body);
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/one.git`;
    const advertisement = "application/x-git-upload-pack-advertisement";
    try {
      for (const each of [
        answer,
        () => ({ status: 200, body: "<html>" }),
        () => ({ status: 200, type: advertisement, body: "000eversion 2\n" }),
        () => ({ status: 200, type: advertisement, body: "zzzz" }),
      ]) {
        answer = each;
        asked = 0;
        const refs = new HttpRefs(() => 0);
        for (let times = 0; times < 2; times++) expect(await refs.read(url, looking)).toBeUndefined();
        expect(asked).toBe(1);
      }
    } finally {
      other.closeAllConnections();
      other.close();
    }
    expect(await new HttpRefs(() => 0).read("http://127.0.0.1:1/one.git", looking)).toBeUndefined();
  });
});

test.each([
  ["0000", []],
  ["0007ab\n00010006c\n0000", ["ab", "c"]],
  ["0007ab\n", undefined],
  ["0003", undefined],
  ["00ffab", undefined],
  ["", undefined],
])("packets %j are %j", (bytes, lines) => {
  expect(packetsOf(Buffer.from(bytes))).toEqual(lines);
});
