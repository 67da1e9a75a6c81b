/** The code service through its front door: real node processes, a real gateway, real git. What it answers, what it refuses, pushes, and a drain. */
import { startRedis, type TestServer } from "@keelson/testkit/servers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";
import { CodeProcesses } from "./code-processes.ts";

let server: TestServer;
let code: CodeProcesses;
const NAMES = ["alpha", "beta", "gamma"];

beforeAll(async () => {
  server = await startRedis();
  code = new CodeProcesses({ storeUrl: server.url, replicas: 1, ttlMs: 3_000, memoryMb: 256 });
  await code.start(2);
  await code.add(NAMES.map((name) => ({ name, url: code.generate(name, 3) })));
  await whole();
}, 120_000);
afterAll(async () => {
  await stopAll();
  code.remove();
  await server.stop();
});

async function whole(): Promise<void> {
  await eventually("all answer", async () => {
    const { Missing, FileCount } = await code.search("common_needle");
    return Missing.length === 0 && FileCount >= 9;
  });
}

async function eventually(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`not within 60 s: ${what}`);
    await sleep(100);
  }
}

test("a search finds what is there, names the commit, and counts exactly", async () => {
  const found = await code.search("own_needle_beta");
  expect(found).toMatchObject({ FileCount: 1, MatchCount: 1, Partial: false });
  expect(found.Files[0]).toMatchObject({ Repository: "beta", FileName: "src/file0.txt" });
  expect(found.Files[0]?.Version).toMatch(/^[0-9a-f]{40}$/);
  expect((await code.search("common_needle repo:^a")).FileCount).toBe(3);
});

test("what cannot be understood is refused with the place, and a query of ten megabytes with a word", async () => {
  const { status, body } = await code.post("/api/search", { Q: "abc case:foo" });
  expect([status, (body as { Error: string }).Error]).toEqual([
    400,
    expect.stringMatching(/at character 10/),
  ]);
  expect((await code.post("/api/search", { Q: "" })).status).toBe(400);
  expect((await code.post("/api/search", { Q: "a(b" })).status).toBe(400);
  expect((await code.post("/api/search", { Q: "x".repeat(10 << 20) })).status).toBe(413);
  expect((await code.search("common_needle")).FileCount).toBe(9);
});

test("at zoekt's paths errors are written as zoekt writes them, and bodies need no content type", async () => {
  const ask = async (path: string, init: RequestInit): Promise<[number, unknown]> => {
    const answer = await fetch(`${code.url}${path}`, init);
    return [answer.status, await answer.json()];
  };
  const error = (pattern: RegExp): unknown => ({ Error: expect.stringMatching(pattern) as string });
  const plain = { "content-type": "application/x-www-form-urlencoded" };
  const [status, body] = await ask("/api/search", {
    method: "POST",
    headers: plain,
    body: '{"Q":"own_needle_beta"}',
  });
  expect([status, (body as { Result: { FileCount: number } }).Result.FileCount]).toEqual([200, 1]);
  for (const path of ["/api/search", "/api/list"]) {
    expect(await ask(path, { method: "POST", headers: plain, body: "{bad" })).toEqual([
      400,
      error(/not JSON/),
    ]);
    expect(await ask(path, { method: "GET" })).toEqual([405, error(/takes POST/)]);
    expect(await ask(path, { method: "POST", body: '{"Q":"a or"}' })).toEqual([400, error(/at character 5/)]);
  }
  const ours = { method: "POST", headers: { "content-type": "application/json" }, body: '{"Q":"a or"}' };
  expect(await ask("/v1/code/search", ours)).toMatchObject([400, { error: { code: "BAD_QUERY" } }]);
  expect((await ask("/v1/code/search", { ...ours, headers: plain }))[0]).toBe(415);
});

test("addresses that are none, and files that are not there, get a clear error", async () => {
  const added = await code.post("/v1/code/repositories", {
    repositories: [{ url: "https://me:secret@host/x" }],
  });
  expect([added.status, JSON.stringify(added.body)]).toEqual([
    400,
    expect.stringContaining("carries a user or a password"),
  ]);
  expect(JSON.stringify(added.body)).not.toContain("secret");
  const file = await code.get("/print?r=alpha&f=../../etc/passwd");
  expect([file.status, file.text]).toEqual([404, expect.stringContaining("FILE_UNKNOWN")]);
  expect((await code.get("/print?r=none&f=x")).status).toBe(404);
  expect((await code.get("/print?r=alpha&f=src/file1.txt&format=raw")).text).toMatch(/^common_needle 1\n/);
});

test("a repository that is none is held, says why, and disturbs nobody", async () => {
  await code.add([{ url: `${code.folder}/nowhere`, name: "nowhere" }]);
  await eventually("it says why", async () => {
    const { Missing } = await code.search("common_needle");
    return Missing.some(({ Code, Why }) => Code === "REPOSITORY_UNAVAILABLE" && Why.includes("no folder"));
  });
  expect((await code.search("common_needle")).FileCount).toBe(9);
  await code.post("/v1/code/repositories/remove", { names: ["nowhere"] });
  await whole();
});

test("a push is served after its webhook", async () => {
  code.push("gamma", "src/new.txt", "pushed_needle\n");
  const { status } = await code.post("/v1/code/webhook", {
    repository: { clone_url: `${code.folder}/repositories/gamma.git` },
  });
  expect(status).toBe(200);
  await eventually("it is found", async () => (await code.search("pushed_needle")).FileCount === 1);
});

test("the command searches, lists and shows", async () => {
  const run = async (...args: string[]): Promise<string> => {
    const command = new KeelsonProcess(["code", ...args, "--url", code.url]);
    await command.endsWith(0);
    return command.all;
  };
  expect(await run("search", "own_needle_alpha")).toMatch(
    /alpha@[0-9a-f]{12}:src\/file0\.txt:1: own_needle_alpha\n1 matches in 1 files/,
  );
  expect(await run("search", "file:file0 repo:^beta$ -own")).toMatch(/0 matches in 0 files/);
  expect(await run("search", "repo:^beta$")).toMatch(/beta@[0-9a-f]{12}:src\/file0\.txt\n/);
  const wrong = new KeelsonProcess(["code", "search", "a or", "--url", code.url]);
  await wrong.endsWith(1);
  expect(wrong.all).toMatch(/^keelson: "or" needs something after it, at character 5/);
  expect(await run("list", "repo:^b")).toContain("beta");
  expect(await run("status")).toMatch(/gamma\s+ready/);
});

test("the list has what zoekt's clients expect", async () => {
  const { body } = await code.post("/api/list", { Q: "repo:alpha", Opts: { Field: 0 } });
  const { Repos, Stats } = (
    body as { List: { Repos: { Repository: { Name: string } }[]; Stats: { Documents: number } } }
  ).List;
  expect([Repos.map(({ Repository }) => Repository.Name), Stats.Documents]).toEqual([["alpha"], 3]);
});

test("a drained node hands its indexes over, and nothing is built again", async () => {
  const where = await settledHolders();
  const [drained = ""] = [...where.values()];
  const other = drained === "n0" ? "n1" : "n0";
  const held = [...where.values()].filter((node) => node === drained).length;
  const built = 'index_time_ms_count{how="built"}';
  const before = [await code.metric(other, built), await code.metric(other, "code_indexes_received_total")];
  code.nodes.get(drained)!.signal("SIGINT");
  await code.nodes.get(drained)!.endsWith(0);
  await whole();
  const after = [await code.metric(other, built), await code.metric(other, "code_indexes_received_total")];
  expect(after).toEqual([before[0], before[1]! + held]);
}, 90_000);

/** Who holds which repository, once that has not changed for a while: memory is levelled first. */
async function settledHolders(): Promise<Map<string, string>> {
  let last = "";
  let since = performance.now();
  let where = new Map<string, string>();
  await eventually("nothing moves", async () => {
    where = new Map((await code.status()).map(({ name, replicas }) => [name, replicas[0]?.node ?? ""]));
    const text = JSON.stringify([...where]);
    if (text !== last) since = performance.now();
    last = text;
    return performance.now() - since > 3_000;
  });
  return where;
}
