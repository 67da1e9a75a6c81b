/** Bad input on a live fleet: each gets a clear error that says what to do, and the rest of the fleet goes on, which is looked at after every one of them. */
import { GitServer } from "@keelson/code/git-fixtures";
import { startRedis, type TestServer } from "@keelson/testkit/servers";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";
import { CodeProcesses } from "./code-processes.ts";
import { eventually } from "./eventually.ts";
import { HOSTILE_NAMES, LINK, makeHostileRepository } from "./hostile-repository.ts";

const WITHIN_MS = 60_000;
const GOOD = ["good1", "good2"];
/** The fleet's own line of text in each of them, in three files. */
const FILES = 3;
const [OLD_TOKEN, NEW_TOKEN] = ["token-that-expired", "token-that-is-good"];

let server: TestServer;
let code: CodeProcesses;
let remote: GitServer;

beforeAll(async () => {
  server = await startRedis();
  code = new CodeProcesses({
    storeUrl: server.url,
    replicas: 1,
    ttlMs: 5_000,
    memoryMb: 224,
    settings: (folder) => [
      "pollMs = 1000",
      "[code.auction]",
      "emptyPauseMs = 200",
      "emptiesMax = 2",
      "[[code.credentials]]",
      'host = "*"',
      'username = "x"',
      `from = "file:${folder}/token"`,
    ],
  });
  writeFileSync(join(code.folder, "token"), OLD_TOKEN);
  remote = await GitServer.start(join(code.folder, "repositories"));
  remote.token = NEW_TOKEN;
  await code.start(2);
  await code.add(GOOD.map((name) => ({ name, url: code.generate(name, FILES) })));
  await eventually("the good ones answer", async () => (await good()) === 2 * FILES, WITHIN_MS);
}, 120_000);

afterAll(async () => {
  await stopAll();
  await remote.stop();
  code.remove();
  await server.stop();
});

afterEach(async () => {
  const files = await good();
  if (files !== 2 * FILES) throw new Error(`the rest of the fleet answers ${files} files, not ${2 * FILES}`);
  for (const [name, node] of code.nodes) if (!node.running) throw new Error(`${name} ended:\n${node.all}`);
});

async function good(): Promise<number> {
  return (await code.search("common_needle repo:^good")).FileCount;
}

async function why(name: string): Promise<string> {
  const { Missing } = await code.search(`common_needle repo:^${name}$`);
  return Missing.map(({ Code, Why }) => `${Code} ${Why}`).join();
}

const remove = (name: string): Promise<{ status: number; body: unknown }> =>
  code.post("/v1/code/repositories/remove", { names: [name] });

describe("a query", () => {
  test.each<[what: string, body: unknown, status: number, says: RegExp]>([
    ["of ten megabytes", { Q: "x".repeat(10 << 20) }, 413, /large|bytes/i],
    ["that is empty", { Q: " " }, 400, /say what to search for/],
    ["that is none", { Q: 7 }, 400, /Q/],
    ["with a group that does not end", { Q: "( a" }, 400, /character/],
    ["with a thousand groups in one another", { Q: "( a ".repeat(20_000) }, 400, /./],
    ["with an expression that is none", { Q: "a(b" }, 400, /character|\(/],
    ["with what RE2 has not", { Q: String.raw`(a)\1` }, 400, /./],
    ["with a repetition of repetitions", { Q: "((a{1000}){1000}){1000}" }, 400, /./],
    ["with a word that does not fit", { Q: "case:maybe x" }, 400, /at character/],
    [
      "with options of another kind",
      { Q: "x", Opts: { MaxDocDisplayCount: "many" } },
      400,
      /MaxDocDisplayCount/,
    ],
  ])("%s is refused with a reason", async (_, body, status, says) => {
    const answer = await code.post("/api/search", body);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringMatching(says)]);
  });
});

describe("an address", () => {
  test.each([
    ["that carries a password", "https://me:secret@host/x", /user or a password/],
    ["of a kind that runs programs", "ext::sh -c reboot", /./],
    ["that is an option", "--upload-pack=reboot", /./],
    ["that is a relative path", "../x", /./],
    ["that is empty", "", /./],
  ])("%s is refused", async (_, url, says) => {
    const { status, body } = await code.post("/v1/code/repositories", {
      repositories: [{ url, name: "bad" }],
    });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(says)]);
    expect(JSON.stringify(body)).not.toContain("secret");
  });

  test.each([
    ["where nothing is", (): string => join(code.folder, "nowhere"), /no folder .*check the path/],
    ["of a file", (): string => join(code.folder, "token"), /no folder .*check the path/],
    [
      "of a server that has no such repository",
      (): string => `http://${remote.host}/none.git`,
      /access was denied|no repository/,
    ],
    ["of a port where nobody listens", (): string => "http://127.0.0.1:9/x.git", /cannot be reached/],
  ])("%s is taken, and says why there is nothing", async (_, url, says) => {
    await code.add([{ name: "bad", url: url() }]);
    await eventually("it says why", async () => says.test(await why("bad")), WITHIN_MS);
    expect((await code.status()).find(({ name }) => name === "bad")?.replicas[0]?.node).toBeDefined();
    await remove("bad");
  });
});

test("a token that has expired is told, and read again once it is replaced; no token is told to anybody", async () => {
  code.generate("private", 2);
  await code.add([{ name: "private", url: `http://${remote.host}/private.git` }]);
  await eventually(
    "access is denied",
    async () => /access was denied.*check the credentials/.test(await why("private")),
    WITHIN_MS,
  );
  writeFileSync(join(code.folder, "token"), NEW_TOKEN);
  await eventually(
    "it is found",
    async () => (await code.search("common_needle repo:^private$")).FileCount === 2,
    WITHIN_MS,
  );
  const told = [...code.nodes.values()].map(({ all }) => all).join() + JSON.stringify(await code.status());
  for (const token of [OLD_TOKEN, NEW_TOKEN]) expect(told).not.toContain(token);
  await remove("private");
});

test("a node with less memory than a process takes is told how much it needs, and does not start", async () => {
  const config = join(code.folder, "small.toml");
  writeFileSync(config, '[code]\nmemory = "100MB"\n');
  const data = join(code.folder, "small");
  const small = new KeelsonProcess(
    ["node", "--store", server.url, "--service", "code", "--id", "small"].concat([
      "--config",
      config,
      "--data",
      data,
    ]),
  );
  expect(await small.ended).not.toBe(0);
  expect(small.all).toMatch(/100 MB is too little.*give it 224 MB or more/);
});

test("a repository that is larger than any node is told to fit nowhere, and nothing makes room for it", async () => {
  // 54 MB of text for nodes with 32 MB of memory for indexes.
  await code.add([{ name: "huge", url: code.generate("huge", 36, 30_000) }]);
  await eventually(
    "it is demanded",
    async () => (await code.status()).find(({ name }) => name === "huge")?.demanded === true,
    WITHIN_MS,
  );
  expect(await why("huge")).toMatch(
    /it needs about \d+ MB, and the largest node has \d+ MB for indexes: give a node more memory, or remove it/,
  );
  expect((await code.status()).filter(({ state }) => state === "resting")).toEqual([]);
  await remove("huge");
});

test("hostile file names are only names, and a link out of the tree leads nowhere", async () => {
  const url = makeHostileRepository(join(code.folder, "hostile.git"));
  await code.add([{ name: "hostile", url }]);
  await eventually(
    "all of its files are found",
    async () => (await code.search("hostile_needle")).FileCount === HOSTILE_NAMES.length,
    WITHIN_MS,
  );
  const { Files } = await code.search("hostile_needle", { MaxDocDisplayCount: 100 });
  const names = new Set(Files.map(({ FileName }) => FileName));
  for (const name of HOSTILE_NAMES) expect(names).toContain(Buffer.from(name).toString("utf8"));
  const shown = await code.get(`/print?r=hostile&format=raw&f=${encodeURIComponent("a\nb\r.txt")}`);
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining("hostile_needle")]);
  expect((await code.search("root:x: repo:^hostile$")).FileCount).toBe(0);
  expect((await code.get(`/print?r=hostile&format=raw&f=${LINK}`)).text).toBe("/etc/passwd");
  for (const path of ["../../etc/passwd", "/etc/passwd", "..%2f..%2fetc%2fpasswd"])
    expect((await code.get(`/print?r=hostile&f=${encodeURIComponent(path)}`)).status).toBe(404);
  await remove("hostile");
});
