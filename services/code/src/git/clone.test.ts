import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { createServer as createNetServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CloneCache } from "./clone-cache.ts";
import { Credentials, type CredentialRule } from "./credentials.ts";
import { listFiles, readDocuments } from "./documents.ts";
import { GitServer, Scratch } from "./fixtures/scratch.ts";
import { parseRemote } from "./remote.ts";

vi.setConfig({ testTimeout: 60_000 });

const limits = { fileBytesMax: 1_000, repositoryBytesMax: 1 << 20 };

let scratch: Scratch;
let server: GitServer | undefined;
let environment: Record<string, string> = {};
let now = 0;
beforeEach(() => {
  scratch = new Scratch();
  environment = {};
  now = 0;
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  scratch.remove();
});

function cache(rules: CredentialRule[] = [], mirror?: string, clonesMax = 10): CloneCache {
  const credentials = new Credentials(rules, { now: () => now, environment });
  const folder = join(scratch.folder, "clones");
  return new CloneCache({ folder, credentials, mirror, clonesMax, timeoutMs: 30_000, now: () => now });
}

interface Got {
  readonly commits: readonly string[];
  readonly documents: Record<string, string | undefined>;
  readonly branches: Record<string, readonly string[]>;
}

/** Fetches it, and reads all of it that is not known. */
function get(
  from: CloneCache,
  url: string,
  branches: readonly string[] = [],
  known: (path: string, oid: string) => boolean = () => false,
): Promise<Got> {
  return from.with(parseRemote(url), branches, async (clone) => {
    const heads = await clone.look();
    await clone.fetch(heads);
    const list = await listFiles(clone.folder, heads, limits, "test");
    const got: Got = {
      commits: heads.map(({ commit }) => commit),
      documents: {},
      branches: {},
    };
    const documents = readDocuments(clone.folder, list, { limits, known, what: "test" });
    for await (const { path, content, branches: on } of documents) {
      got.documents[path] = content && Buffer.from(content).toString();
      got.branches[path] = on;
    }
    return got;
  });
}

describe("a repository in a folder", () => {
  test("is fetched shallow, with the files of its default branch", async () => {
    const path = scratch.repository("a/one", { "x.txt": "first" });
    const commit = scratch.commit(path, { "x.txt": "second", "dir/y.txt": "y" });
    const got = await get(cache(), path);
    expect(got).toMatchObject({ commits: [commit], documents: { "x.txt": "second", "dir/y.txt": "y" } });
    const [clone = ""] = readdirSync(join(scratch.folder, "clones"));
    expect(scratch.git(join(scratch.folder, "clones", clone), "rev-list", "--count", "main").trim()).toBe(
      "1",
    );
  });

  test("gives each content once, with the branches it is on, the default branch first", async () => {
    const path = scratch.repository("two", { "same.txt": "same", "x.txt": "main" });
    scratch.git(path, "checkout", "--quiet", "-b", "a-release");
    scratch.commit(path, { "x.txt": "release" });
    scratch.git(path, "checkout", "--quiet", "main");
    const got = await get(cache(), path, ["a-*", "HEAD"]);
    expect(got.branches["same.txt"]).toEqual(["main", "a-release"]);
    expect(got.commits).toHaveLength(2);
    expect(got.commits[0]).toBe(scratch.git(path, "rev-parse", "main").trim());
  });

  test("is read again only where object ids differ", async () => {
    const path = scratch.repository("three", { "a.txt": "a", "b.txt": "b", "c.txt": "c" });
    const clones = cache();
    await get(clones, path);
    scratch.commit(path, { "b.txt": "changed" });
    const seen: string[] = [];
    const got = await get(clones, path, [], (file, oid) => {
      seen.push(`${file} ${oid.length}`);
      return file !== "b.txt";
    });
    expect(got.documents).toEqual({ "a.txt": undefined, "b.txt": "changed", "c.txt": undefined });
    expect(seen.sort()).toEqual(["a.txt 40", "b.txt 40", "c.txt 40"]);
  });

  test("may have been rewritten: the new history counts", async () => {
    const path = scratch.repository("four", { "a.txt": "a" });
    const clones = cache();
    await get(clones, path);
    scratch.write(path, { "a.txt": "other" });
    scratch.git(path, "commit", "--quiet", "--all", "--amend", "-m", "rewritten");
    expect((await get(clones, path)).documents).toEqual({ "a.txt": "other" });
  });

  test("may be at a commit without a branch, as in the checkout of a tag", async () => {
    const origin = scratch.repository("tagged", { "a.txt": "released" });
    scratch.git(origin, "tag", "v1");
    scratch.commit(origin, { "a.txt": "later" });
    scratch.git(scratch.folder, "clone", "--quiet", "--branch", "v1", "--depth=1", `file://${origin}`, "tag");
    const clones = cache();
    const path = join(scratch.folder, "tag");
    expect((await get(clones, path)).documents).toEqual({ "a.txt": "released" });
    scratch.commit(path, { "a.txt": "patched" });
    expect(await get(clones, path)).toMatchObject({
      documents: { "a.txt": "patched" },
      branches: { "a.txt": ["HEAD"] },
    });
  });

  test("has the branches that are there when one that is wanted was deleted, and says which is not", async () => {
    const path = scratch.repository("pruned", { "a.txt": "a" });
    scratch.git(path, "branch", "dev");
    const clones = cache();
    expect((await get(clones, path, ["main", "dev"])).branches).toEqual({ "a.txt": ["main", "dev"] });
    scratch.git(path, "branch", "-D", "dev");
    scratch.commit(path, { "a.txt": "newer" });
    expect(await get(clones, path, ["main", "dev"])).toMatchObject({
      documents: { "a.txt": "newer" },
      branches: { "a.txt": ["main"] },
    });
    const missing = await clones.with(parseRemote(path), ["main", "dev"], async (clone) => {
      await clone.look();
      return clone.missing;
    });
    expect(missing).toEqual(["dev"]);
  });

  test("may name its objects by SHA-256", async () => {
    const path = join(scratch.folder, "long");
    scratch.git(scratch.folder, "init", "--quiet", "--object-format=sha256", path);
    const commit = scratch.commit(path, { "a.txt": "a" });
    expect(await get(cache(), path)).toMatchObject({ commits: [commit], documents: { "a.txt": "a" } });
    expect(commit).toHaveLength(64);
  });

  test("may have a HEAD that leads to a branch that nobody pushed", async () => {
    const path = scratch.repository("pushed", { "a.txt": "a" });
    scratch.git(path, "branch", "other");
    scratch.git(path, "symbolic-ref", "HEAD", "refs/heads/trunk");
    expect((await get(cache(), path)).branches).toEqual({ "a.txt": ["main"] });
  });

  test("runs none of the programs that its own configuration names, nor fetches what it lacks from elsewhere", async () => {
    const marker = join(scratch.folder, "ran");
    const program = join(scratch.folder, "program");
    writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> ${marker}\n`, { mode: 0o755 });
    const path = scratch.repository("hostile", { "a.txt": "a" });
    for (const key of ["core.fsmonitor", "uploadpack.packObjectsHook", "core.sshCommand"])
      scratch.git(path, "config", key, program);
    scratch.git(path, "config", "protocol.ext.allow", "always");
    expect((await get(cache(), path)).documents).toEqual({ "a.txt": "a" });
    // A clone that leaves its files with a server: what that server is, is up to whoever wrote its configuration.
    const partial = scratch.repository("partial", { "b.txt": "b" });
    const blob = scratch.git(partial, "rev-parse", "HEAD:b.txt").trim();
    rmSync(join(partial, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    for (const [key, value] of [
      ["core.repositoryformatversion", "1"],
      ["extensions.partialClone", "far"],
      ["remote.far.promisor", "true"],
      ["remote.far.url", `ext::${program} %S`],
      ["protocol.ext.allow", "always"],
    ] as const)
      scratch.git(partial, "config", key, value);
    await expect(get(cache(), partial)).rejects.toMatchObject({ code: "GIT_FAILED" });
    expect(existsSync(marker)).toBe(false);
  });

  test.runIf(process.getuid?.() === 0)(
    "may belong to somebody else than the process that reads it",
    async () => {
      const path = scratch.repository("theirs", { "a.txt": "a" });
      execFileSync("chown", ["-R", "12345:12345", path]);
      expect((await get(cache(), path)).documents).toEqual({ "a.txt": "a" });
    },
  );

  test("may have no commits yet: then it has nothing, and nothing is missing", async () => {
    scratch.git(scratch.folder, "init", "--quiet", "empty");
    const path = join(scratch.folder, "empty");
    expect(await get(cache(), path, ["main"])).toMatchObject({ commits: [], documents: {} });
    scratch.commit(path, { "a.txt": "first" });
    expect((await get(cache(), path)).documents).toEqual({ "a.txt": "first" });
  });

  test("need not be one: plain files are taken as they are, and their id changes with them", async () => {
    const path = join(scratch.folder, "plain");
    scratch.write(path, { "a.txt": "a", "sub/b.txt": "b" });
    const clones = cache();
    const first = await get(clones, path);
    expect(first.documents).toEqual({ "a.txt": "a", "sub/b.txt": "b" });
    expect((await get(clones, path)).commits).toEqual(first.commits);
    scratch.write(path, { "a.txt": "changed" });
    const second = await get(clones, path);
    expect(second.documents["a.txt"]).toBe("changed");
    expect(second.commits).not.toEqual(first.commits);
  });
});

describe("a repository on a server", () => {
  const rule = (from: string): CredentialRule => ({ host: server!.host, username: "x", from });

  beforeEach(async () => {
    scratch.repository("a/one", { "x.txt": "served" });
    scratch.git(
      scratch.folder,
      "clone",
      "--quiet",
      "--bare",
      join(scratch.folder, "a/one"),
      "served/a/one.git",
    );
    server = await GitServer.start(join(scratch.folder, "served"));
  });

  const url = (): string => `http://${server!.host}/a/one.git`;

  test("is fetched over HTTP, with credentials from the environment, a file or a command", async () => {
    server!.token = "s3cret";
    environment["TOKEN"] = "s3cret";
    const file = join(scratch.folder, "token");
    writeFileSync(file, "s3cret\n");
    for (const from of ["env:TOKEN", `file:${file}`, `command:cat ${file}`])
      expect((await get(cache([rule(from)]), url())).documents).toEqual({ "x.txt": "served" });
  });

  test("a token that was exchanged is read again when it is refused", async () => {
    const file = join(scratch.folder, "token");
    server!.token = "old";
    writeFileSync(file, "old");
    const clones = cache([rule(`file:${file}`)]);
    await get(clones, url());
    server!.token = "new";
    await expect(get(clones, url())).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    writeFileSync(file, "new");
    expect((await get(clones, url())).documents).toEqual({ "x.txt": "served" });
  });

  test("a token that says when it expires is read again before that", async () => {
    const file = join(scratch.folder, "token");
    const token = (value: string): string =>
      JSON.stringify({ token: value, expires_at: new Date(5_000).toISOString() });
    writeFileSync(file, token("one"));
    const credentials = new Credentials([{ host: "h", username: "x", from: `file:${file}` }], {
      now: () => now,
      environment,
    });
    expect(await credentials.for("h")).toEqual({ username: "x", password: "one" });
    writeFileSync(file, token("two"));
    expect((await credentials.for("h"))?.password).toBe("one");
    now = 5_001;
    expect((await credentials.for("h"))?.password).toBe("two");
  });

  test("no file of the clone and no error holds the token", async () => {
    server!.token = "s3cret";
    environment["TOKEN"] = "s3cret";
    await get(cache([rule("env:TOKEN")]), url());
    const held = everyFile(join(scratch.folder, "clones")).filter((path) =>
      readFileSync(path).includes("s3cret"),
    );
    expect(held).toEqual([]);
    environment["TOKEN"] = "wr0ng";
    const error: unknown = await get(cache([rule("env:TOKEN")]), url()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "ACCESS_DENIED" });
    expect(JSON.stringify(error) + String(error)).not.toContain("wr0ng");
  });

  test("a token is shown to its own server alone, wherever that sends git on to", async () => {
    const seen: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(401, { "www-authenticate": "Basic realm=other" }).end("no");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const first = createServer((request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${port}${request.url}` }).end(),
    );
    await new Promise<void>((resolve) => first.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(first.address() as AddressInfo).port}`;
    environment["TOKEN"] = "s3cret";
    try {
      const rules = [{ host, username: "x", from: "env:TOKEN" }];
      await expect(get(cache(rules), `http://${host}/a/one.git`)).rejects.toMatchObject({
        code: "ACCESS_DENIED",
      });
    } finally {
      for (const each of [first, other]) {
        each.closeAllConnections();
        each.close();
      }
    }
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });

  test.each([
    ["begins like JSON and is none", "{s3cret", /JSON that cannot be read/],
    ["has a second line", "s3cret\nhost=elsewhere", /line breaks/],
    ["has a zero byte", "s3cret\0x", /control characters/],
    ["is JSON without a token", '{"secret":"s3cret"}', /empty/],
  ])("a source of credentials that %s is told without a word of it", async (_, text, says) => {
    const file = join(scratch.folder, "token");
    writeFileSync(file, text);
    const error: unknown = await get(cache([rule(`file:${file}`)]), url()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "BAD_CREDENTIALS_SOURCE" });
    expect(String(error)).toMatch(says);
    expect(JSON.stringify(error) + String(error)).not.toContain("s3cret");
  });

  test("a mirror that has the commit gives the objects; one that has not is passed over", async () => {
    scratch.git(
      scratch.folder,
      "clone",
      "--quiet",
      "--bare",
      join(scratch.folder, "a/one"),
      "mirror/127.0.0.1/a/one.git",
    );
    const packs = (): number => server!.requests.filter((line) => line.startsWith("POST")).length;
    const before = packs();
    const mirror = join(scratch.folder, "mirror");
    expect((await get(cache([], mirror), url())).documents).toEqual({ "x.txt": "served" });
    const listings = packs() - before;
    scratch.commit(join(scratch.folder, "a/one"), { "x.txt": "newer" });
    scratch.git(
      join(scratch.folder, "a/one"),
      "push",
      "--quiet",
      join(scratch.folder, "served/a/one.git"),
      "main",
    );
    expect((await get(cache([], mirror), url())).documents).toEqual({ "x.txt": "newer" });
    // The listing is one request; a fetch is at least one more.
    expect(packs() - before - listings).toBeGreaterThan(listings);
  });

  test("a server that says nothing is not waited for beyond the time, nor when nobody wants it any more", async () => {
    const silent = createNetServer((socket) => socket.on("error", () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = parseRemote(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/a/b`);
    const credentials = new Credentials([], { now: () => now, environment });
    const folder = join(scratch.folder, "clones");
    const clones = new CloneCache({ folder, credentials, clonesMax: 10, timeoutMs: 1_000, now: () => now });
    try {
      const startedAt = performance.now();
      await expect(clones.with(address, [], (clone) => clone.look())).rejects.toMatchObject({
        code: "UNREACHABLE",
      });
      const patient = new CloneCache({
        folder,
        credentials,
        clonesMax: 10,
        timeoutMs: 60_000,
        now: () => now,
      });
      await expect(
        patient.with(address, [], (clone) => clone.look(AbortSignal.timeout(1_000))),
      ).rejects.toMatchObject({ code: "CANCELLED" });
      expect(performance.now() - startedAt).toBeLessThan(20_000);
    } finally {
      silent.close();
    }
  });

  test("who waits behind a server that says nothing leaves as soon as nobody wants it", async () => {
    const silent = createNetServer((socket) => socket.on("error", () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const clones = cache();
    const ending = new AbortController();
    const look = (path: string, signal: AbortSignal): Promise<unknown> =>
      clones
        .with(parseRemote(`http://127.0.0.1:${port}/${path}`), [], (clone) => clone.look(signal), signal)
        .catch((error: unknown) => error);
    try {
      const asking = Array.from({ length: 4 }, (_, i) => look(`a/${i}`, ending.signal));
      // Behind all that may ask that server at once, and behind one of them at the same clone.
      const leaving = new AbortController();
      const behind = [look("a/more", leaving.signal), look("a/0", leaving.signal)];
      leaving.abort();
      const left = await Promise.race([Promise.all(behind), Promise.all(asking).then(() => "too late")]);
      expect(left).toMatchObject([{ name: "AbortError" }, { name: "AbortError" }]);
      ending.abort();
      await Promise.all(asking);
    } finally {
      ending.abort();
      silent.close();
    }
  });

  test("a page of the web is no repository", async () => {
    const pages = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<html>\nhello\n</html>\n");
    });
    await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
    const { port } = pages.address() as AddressInfo;
    try {
      await expect(get(cache(), `http://127.0.0.1:${port}/a/b`)).rejects.toMatchObject({
        code: "NOT_A_REPOSITORY",
      });
    } finally {
      pages.closeAllConnections();
      pages.close();
    }
  });

  test("what is not there, not allowed, or not a repository says so", async () => {
    const code = (address: string): Promise<unknown> =>
      get(cache(), address).catch((error: unknown) => (error as { code: string }).code);
    expect(await code(`http://${server!.host}/none.git`)).toBe("NOT_A_REPOSITORY");
    expect(await code(join(scratch.folder, "nothing"))).toBe("NOT_A_REPOSITORY");
    server!.token = "x";
    expect(await code(url())).toBe("ACCESS_DENIED");
    const { host } = server!;
    await server!.stop();
    expect(await code(`http://${host}/a/one.git`)).toBe("UNREACHABLE");
    await expect(get(cache(), join(scratch.folder, "a/one"), ["nope"])).rejects.toThrow(/no branch "nope"/);
  });
});

test("clones that were not used for longest go first, and never one in use", async () => {
  const clones = cache([], undefined, 2);
  const paths = ["p", "q", "r"].map((name) => scratch.repository(name, { "a.txt": name }));
  for (const path of paths) await get(clones, path);
  expect(readdirSync(join(scratch.folder, "clones"))).toHaveLength(2);
  expect((await get(clones, paths[0]!)).documents).toEqual({ "a.txt": "p" });
});

function everyFile(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? everyFile(path) : [path];
  });
}

test("a clone that comes into use while others are thrown away stays", async () => {
  const folder = join(scratch.folder, "clones");
  const urls = ["a", "b", "c"].map((name) => scratch.repository(name, { "x.txt": name }));
  for (const url of urls.slice(0, 2)) await get(cache(), url);
  const [first = "", second = ""] = ["a", "b"].map((_, i) => {
    const id = createHash("sha256").update(urls[i]!).digest("hex").slice(0, 32);
    return join(folder, `${id}.git`);
  });
  // Not f0 and so on: git has folders of such names there.
  for (let i = 0; i < 1_000; i++) writeFileSync(join(first, "objects", `one-${i}`), "");
  utimesSync(first, 1, 1);
  const clones = cache([], undefined, 1);
  const tidied = get(clones, urls[2]!).catch((error: unknown) => error);
  while (existsSync(join(first, "objects", "one-0"))) await new Promise((resolve) => setImmediate(resolve));
  const stayed = await clones.with(parseRemote(urls[1]!), [], async () => {
    const before = existsSync(join(second, "HEAD"));
    await tidied;
    return !before || existsSync(join(second, "HEAD"));
  });
  expect(stayed).toBe(true);
  expect(await tidied).not.toBeInstanceOf(Error);
});

test("what a process that ended was throwing away is thrown away by the next", () => {
  const left = join(scratch.folder, "clones", "0.git.gone");
  mkdirSync(join(left, "objects"), { recursive: true });
  cache();
  expect(existsSync(left)).toBe(false);
});
