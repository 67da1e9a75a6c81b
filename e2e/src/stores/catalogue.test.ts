/**
 * The serving-fleet seed's catalogue, as an operator asks for it: SQL over a fleet of `code` on a real Postgres, with real nodes. What a push, a kill -9, an eviction and a
 * removal change of a repository, they change of its row.
 */
import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { requireProgram, startPostgres, type TestServer } from "@keelson/testkit/servers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CodeProcesses } from "../code/code-processes.ts";
import { eventually } from "../code/eventually.ts";
import { stopAll } from "../process/keelson-process.ts";

const WITHIN_MS = 60_000;
const TTL_MS = 3_000;
/** 8 MB of text each, for a node that has 32 MB for indexes: three fit, and for two pinned ones beside them another has to go. */
const BIG = { names: ["big1", "big2", "big3"], pinned: ["pinned1", "pinned2"], files: 4, lines: 42_000 };

interface Row {
  readonly repo_id: string;
  readonly owner_id: string | null;
  readonly lease_expires: string | null;
  readonly commit_hash: string | null;
  readonly ready: boolean;
  readonly last_indexed_at: string | null;
  readonly size_bytes: number | null;
  readonly name: string;
  readonly state: string;
}

let server: TestServer;
let code: CodeProcesses;

beforeEach(async () => {
  server = await startPostgres();
  code = new CodeProcesses({
    storeUrl: server.url,
    replicas: 1,
    ttlMs: TTL_MS,
    memoryMb: 224,
    guessMb: 6,
    settings: [
      "pollMs = 300",
      "evictIdleMs = 0",
      "evictResidenceMs = 0",
      "[code.auction]",
      "windowMs = 1000",
      "emptyPauseMs = 200",
      "emptiesMax = 2",
    ],
  });
  await code.start(2);
}, 120_000);

afterEach(async () => {
  await stopAll();
  code.remove();
  await server.stop();
});

/** Through psql, as somebody at a terminal would. */
async function rows(): Promise<Row[]> {
  const sql = `select coalesce(json_agg(c order by name), '[]') from keelson.catalogue as c`;
  const { stdout } = await promisify(execFile)(
    requireProgram("postgres", "psql"),
    ["--no-psqlrc", "-At", "-c", sql, server.url],
    { maxBuffer: 1 << 24 },
  );
  return JSON.parse(stdout) as Row[];
}

async function row(name: string): Promise<Row | undefined> {
  return (await rows()).find((each) => each.name === name);
}

const commitOf = (name: string): string =>
  execFileSync("git", ["--git-dir", join(code.folder, "repositories", `${name}.git`), "rev-parse", "main"], {
    encoding: "utf8",
  }).trim();

/** What the fleet says by its own API, as a row would: owner, and the commit that is served. */
async function served(): Promise<[name: string, owner: string | null, commit: string | null][]> {
  const lines = await code.status();
  return lines
    .map(({ name, replicas: [first] }): [string, string | null, string | null] => [
      name,
      first?.node ?? null,
      first?.index?.heads[0]?.commit ?? null,
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

test("each repository has its row, and what happens to it is to be seen there", async () => {
  const small = ["one", "two", "three", "four"];
  await code.add(small.map((name) => ({ name, url: code.generate(name, 3) })));
  await eventually(
    "all are ready",
    async () => {
      const found = await rows();
      return found.length === small.length && found.every(({ ready }) => ready);
    },
    WITHIN_MS,
  );
  for (const each of await rows()) {
    expect([...code.nodes.keys()]).toContain(each.owner_id);
    expect(each).toMatchObject({ commit_hash: commitOf(each.name), state: "active" });
    expect(Date.parse(each.lease_expires ?? "")).toBeGreaterThan(Date.now() - TTL_MS);
    expect(Date.parse(each.last_indexed_at ?? "")).toBeGreaterThan(Date.now() - WITHIN_MS);
    expect(each.size_bytes).toBeGreaterThan(0);
    expect(Number(each.repo_id)).toBeGreaterThan(0);
  }
  await eventually(
    "the rows say what the fleet says",
    async () => {
      const told = (await rows()).map(({ name, owner_id, commit_hash }) => [name, owner_id, commit_hash]);
      return JSON.stringify(told) === JSON.stringify(await served());
    },
    WITHIN_MS,
  );

  // A push: another commit, indexed later.
  const before = await row("one");
  code.push("one", "src/new.txt", "pushed_needle\n");
  await eventually(
    "the push is there",
    async () => {
      const now = await row("one");
      return now?.ready === true && now.commit_hash === commitOf("one");
    },
    WITHIN_MS,
  );
  const pushed = await row("one");
  expect(Date.parse(pushed?.last_indexed_at ?? "")).toBeGreaterThan(
    Date.parse(before?.last_indexed_at ?? ""),
  );

  // A kill -9: the lease runs out, and the other node has it. No row ever calls ready what its owner does not serve.
  const left = pushed?.owner_id === "n0" ? "n1" : "n0";
  code.kill(pushed?.owner_id ?? "");
  await eventually(
    "the other node has all of them",
    async () => (await rows()).every(({ owner_id, ready }) => owner_id === left && ready),
    WITHIN_MS,
  );
  expect(await row("one")).toMatchObject({ commit_hash: commitOf("one"), repo_id: pushed?.repo_id });

  // An eviction: nobody owns it, and its last commit is still known.
  const big = (name: string) => ({ name, url: code.generate(name, BIG.files, BIG.lines) });
  await code.add(BIG.names.map(big));
  await eventually("all are held", async () => (await rows()).every(({ ready }) => ready), WITHIN_MS);
  await code.add(BIG.pinned.map((name) => ({ ...big(name), pinned: true })));
  await eventually(
    "one of them made room",
    async () => (await rows()).some(({ state, owner_id }) => state === "resting" && owner_id === null),
    WITHIN_MS,
  );
  const resting = (await rows()).find(({ state }) => state === "resting");
  const commit_hash = commitOf(resting?.name ?? "");
  expect(resting).toMatchObject({ ready: false, owner_id: null, lease_expires: null, commit_hash });

  // What is removed has no row.
  await code.post("/v1/code/repositories/remove", { names: ["two"] });
  await eventually("its row is gone", async () => (await row("two")) === undefined, WITHIN_MS);
}, 240_000);
