import { createServer, type AddressInfo } from "node:net";
import { TestFleet } from "@keelson/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import { CodeFleet } from "./fixtures/code-fleet.ts";
import { eventually } from "./fixtures/eventually.ts";
import { PlainIndex } from "./fixtures/plain-engine.ts";

// Real git and whole fleets, on machines that are not ours alone.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let code: CodeFleet<TestFleet>;
const fleet = (): TestFleet =>
  new TestFleet({ services: [], terms: { ttlMs: 10_000, leaveReadyMs: 10_000 } });
afterEach(() => code.stop());

const holder = (id: number, replica = 0): string | undefined =>
  code.fleet.holders(`code/${id}/${replica}`)[0];

describe("a fleet of code nodes", () => {
  test("goes on with the branches that are there when one is deleted, says so, and looks at once when others are wanted", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const path = code.scratch.repository("one", { "a.txt": "first" });
    code.scratch.git(path, "branch", "dev");
    const [row] = await code.take({ url: path, branches: ["main", "dev"] });
    const id = row!.id;
    expect((await code.search(id, "first")).files.map(({ branches }) => branches)).toEqual([["main", "dev"]]);
    code.scratch.git(path, "branch", "-D", "dev");
    code.scratch.commit(path, { "a.txt": "second" });
    await code.call("catalogue", "poke", { name: row!.name });
    await eventually("the push is served", async () => (await code.search(id, "second")).files.length === 1);
    const answer = await code.search(id, "first or second");
    expect(answer.files.map(({ branches }) => branches)).toEqual([["main"]]);
    expect(answer.stale).toMatch(/no branch "dev"/);
    await eventually(
      "the status says so",
      async () => (await code.status())[0]?.replicas[0]?.index?.problem?.code === "NO_BRANCH",
    );
    await code.call("catalogue", "set", { names: [row!.name], branches: ["main"] });
    await eventually("nothing is missing", async () => (await code.search(id, "second")).stale === undefined);
  });

  test("takes a repository in, holds it by auction, and searches it at a commit", async () => {
    code = new CodeFleet(fleet());
    await Promise.all([code.add("a"), code.add("b")]);
    const path = code.scratch.repository("one", { "main.go": "package main\nfunc main() {}\n" });
    const [row] = await code.take({ url: path });
    const answer = await code.search(row!.id, "func.main");
    expect(answer.repository).toMatchObject({ id: 1, name: expect.stringMatching(/\/one$/) as string });
    expect(answer.repository.heads).toEqual([
      { branch: "main", commit: code.scratch.git(path, "rev-parse", "HEAD").trim() },
    ]);
    expect(answer.files.map(({ path: file, lines }) => [file, lines[0]?.line])).toEqual([["main.go", 2]]);
    await eventually(
      "the catalogue knows",
      async () => (await code.status())[0]?.replicas[0]?.index?.documents === 1,
    );
    await code.call("catalogue", "remove", { names: [row!.name] });
    await eventually("it is gone", () => holder(1) === undefined);
    expect([...code.engines.values()].map(({ memory }) => memory.usedBytes)).toEqual([0, 0]);
  });

  test("servers that take connections and say nothing keep nobody else waiting", async () => {
    const silent = createServer((socket) => socket.on("error", () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    try {
      code = new CodeFleet(fleet(), { gitTimeoutMs: 20_000 });
      await code.add("a");
      const { port } = silent.address() as AddressInfo;
      await code.take(...[1, 2, 3, 4, 5, 6].map((n) => ({ url: `http://127.0.0.1:${port}/${n}.git` })));
      const [row] = await code.take({ url: code.scratch.repository("one", { "a.txt": "first" }) });
      expect((await code.search(row!.id, "first")).files).toHaveLength(1);
      code.scratch.commit(`${code.scratch.folder}/one`, { "a.txt": "second" });
      await code.call("catalogue", "poke", { name: row!.name });
      await eventually(
        "a push",
        async () => (await code.search(row!.id, "second")).files.length === 1,
        10_000,
      );
      await expect(code.search(1, "x")).rejects.toThrow(/loading|longer than/);
    } finally {
      silent.close();
    }
  });

  test("serves a new commit whole, reading only what changed, when it is poked", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const path = code.scratch.repository("one", {
      "a.txt": "needle one",
      "b.txt": "needle one",
      "c.txt": "c",
    });
    const [row] = await code.take({ url: path });
    await code.search(1, "needle");
    const commit = code.scratch.commit(path, { "b.txt": "needle two" });
    await code.call("catalogue", "poke", { name: row!.name });
    await eventually(
      "the new commit is served",
      async () => (await code.search(1, "x or needle")).repository.heads[0]?.commit === commit,
    );
    expect((await code.search(1, "two")).files.map((file) => file.path)).toEqual(["b.txt"]);
    expect(code.engines.get("a")!.contentsRead).toBe(4);
  });

  test("a push that is told of while its repository is built for the first time is served right after", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const { begun, goOn } = code.holdBuilds("a");
    const path = code.scratch.repository("one", { "a.txt": "first" });
    const [row] = await code.take({ url: path });
    await begun;
    code.scratch.commit(path, { "a.txt": "second" });
    await code.call("catalogue", "poke", { name: row!.name });
    goOn();
    await eventually("the push is served", async () => (await code.search(1, "second")).files.length === 1);
    expect((await code.search(1, "first")).files).toEqual([]);
  });

  test("a drained node sends its indexes on: nothing is built again", async () => {
    code = new CodeFleet(fleet());
    await Promise.all([code.add("a"), code.add("b")]);
    for (const name of ["one", "two", "three"]) code.scratch.repository(name, { "x.txt": `needle ${name}` });
    await code.take(
      ...["one", "two", "three"].map((name) => ({ url: `${code.scratch.folder}/${name}`, name })),
    );
    await eventually("all are held", () => [1, 2, 3].every((id) => holder(id) !== undefined));
    const builds = (): number => [...code.engines.values()].reduce((sum, { builds: n }) => sum + n, 0);
    expect(builds()).toBe(3);
    const moved = [1, 2, 3].filter((id) => holder(id) === "a");
    await code.fleet.leave("a");
    for (const id of [1, 2, 3]) expect((await code.search(id, "needle")).files).toHaveLength(1);
    expect(builds()).toBe(3);
    // One that did not arrive whole on a busy machine is asked for again.
    expect(code.engines.get("b")!.loads).toBeGreaterThanOrEqual(moved.length);
  });

  test("says how many submodules of a repository are not searched, and still does after it has moved", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const inner = code.scratch.repository("inner", { "i.txt": "needle" });
    const path = code.scratch.repository("outer", { "x.txt": "needle" });
    for (const place of ["mod", "other"]) code.scratch.git(path, "submodule", "--quiet", "add", inner, place);
    code.scratch.commit(path, {});
    await code.take({ url: path }, { url: inner });
    for (const id of [1, 2]) expect((await code.search(id, "needle")).files).toHaveLength(1);
    const told = async (): Promise<unknown[][]> =>
      (await code.status()).map(({ replicas: [replica] }) => [
        replica?.node,
        replica?.index?.submodules,
        replica?.index?.note,
      ]);
    const note = "2 submodules are not searched: add them as repositories of their own";
    await eventually("it is told", async () => (await told())[0]?.[2] === note);
    expect((await told())[1]).toEqual(["a", undefined, undefined]);
    await code.add("b");
    await code.fleet.leave("a");
    await eventually("it has moved", async () => String((await told())[0]) === `b,2,${note}`);
    expect(code.engines.get("b")!.builds).toBe(0);
    code.scratch.git(path, "rm", "--quiet", "mod");
    code.scratch.commit(path, {});
    await code.call("catalogue", "poke", { name: (await code.status())[0]!.name });
    await eventually("one is gone", async () =>
      String((await told())[0]?.[2]).startsWith("1 submodule is not"),
    );
  });

  test("a node that is drained while it builds is waited for: nothing is built again", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const { begun, goOn } = code.holdBuilds("a");
    await code.take({ url: code.scratch.repository("one", { "x.txt": "needle one" }) });
    await begun;
    await code.add("b");
    const left = code.fleet.leave("a");
    left.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    goOn();
    await left;
    expect((await code.search(1, "needle")).files).toHaveLength(1);
    expect([holder(1), code.engines.get("b")!.builds, code.engines.get("b")!.loads]).toEqual(["b", 0, 1]);
  });

  test("a drained node that is sending as much as it can is waited for: nothing is built again", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    await code.take({ url: code.scratch.repository("one", { "x.txt": "needle one" }) });
    await code.search(1, "needle");
    const begun = await Promise.all(
      Array.from(
        { length: 8 },
        async () => (await code.call("1", "send", null)).body as { transfer: string },
      ),
    );
    await expect(code.call("1", "send", null)).rejects.toMatchObject({ code: "TRANSFER_BUSY" });
    await code.add("b");
    const left = code.fleet.leave("a");
    left.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(holder(1)).toBe("a");
    await code.call("1", "piece", begun[0]!.transfer);
    await left;
    expect((await code.search(1, "needle")).files).toHaveLength(1);
    expect([holder(1), code.engines.get("b")!.builds, code.engines.get("b")!.loads]).toEqual(["b", 0, 1]);
  });

  test("with two replicas the second gets its index from the first, and answers when the first is gone", async () => {
    code = new CodeFleet(fleet(), { replicas: 2 });
    await Promise.all([code.add("a"), code.add("b"), code.add("c")]);
    const url = code.scratch.repository("one", { "x.txt": "needle" });
    await code.take({ url });
    await eventually("both are held", () => holder(1, 0) !== undefined && holder(1, 1) !== undefined);
    expect(holder(1, 0)).not.toBe(holder(1, 1));
    code.fleet.kill(holder(1, 0)!);
    expect((await code.search(1, "needle")).files).toHaveLength(1);
  });

  test("what cannot be fetched is held, says why, and comes once it can be", async () => {
    code = new CodeFleet(fleet(), { pollMs: 100 });
    await code.add("a");
    await code.take(
      { url: `${code.scratch.folder}/later`, name: "later" },
      { url: code.scratch.repository("good", { x: "needle" }) },
    );
    await expect(code.search(1, "needle")).rejects.toMatchObject({
      code: "REPOSITORY_UNAVAILABLE",
      message: /no folder/,
    });
    expect((await code.search(2, "needle")).files).toHaveLength(1);
    expect((await code.status())[0]?.replicas[0]?.index?.problem?.code).toBe("NOT_A_REPOSITORY");
    code.scratch.repository("later", { y: "needle" });
    await eventually("it is there", () =>
      code.search(1, "needle").then(
        ({ files }) => files.length === 1,
        () => false,
      ),
    );
  });

  test("refuses addresses that are none, and names that are taken, and goes on", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    await expect(code.take({ url: "https://me:secret@host/x" })).rejects.toMatchObject({ code: "BAD_URL" });
    await expect(code.take({ url: "ext::sh -c x" })).rejects.toMatchObject({ code: "BAD_URL" });
    await code.take({ url: "/x/one", name: "same" });
    await expect(code.take({ url: "/x/two", name: "same" })).rejects.toMatchObject({ code: "NAME_TAKEN" });
    await expect(code.call("catalogue", "remove", { names: ["none"] })).rejects.toMatchObject({
      code: "REPOSITORY_UNKNOWN",
    });
    expect(await code.status()).toHaveLength(1);
  });

  test("goes to the zone that is named for it, though others have more room, and moves when another is named", async () => {
    code = new CodeFleet(fleet(), { zones: ["eu"] });
    await code.add("far", 40_000_000, {}, "us");
    await code.add("near", 10_000_000, {}, "eu");
    const rows = ["p", "q"].map((name) => ({ name, url: code.scratch.repository(name, { x: name }) }));
    const [p, q] = await code.take(rows[0]!, { ...rows[1]!, zones: ["us", "eu"] });
    await eventually(
      "both are held where they should be",
      () => holder(p!.id) === "near" && holder(q!.id) === "far",
    );
    await code.call("catalogue", "set", { names: ["p"], zones: ["us"] });
    await eventually("it has moved", () => holder(p!.id) === "far");
    expect((await code.search(p!.id, "p")).files).toHaveLength(1);
  });

  test("an index that no longer holds what was built is found, and built again", async () => {
    code = new CodeFleet(fleet(), { verifyMs: 1, pollMs: 100 });
    await code.add("a");
    const engine = code.engines.get("a")!;
    const built: PlainIndex[] = [];
    const build = engine.build.bind(engine);
    engine.build = async (...args) => {
      const index = await build(...args);
      if (index instanceof PlainIndex) built.push(index);
      return index;
    };
    await code.take({ url: code.scratch.repository("one", { "x.txt": "needle" }) });
    await code.search(1, "needle");
    const { begun, goOn } = code.holdBuilds("a");
    built[0]!.damaged = true;
    await begun;
    await eventually("it is seen that there is none", async () => {
      const shown = await code.metrics.get("a")!.registry.metrics();
      return Number(/^code_index_lag_ms\{\S+\} (\S+)$/m.exec(shown)?.[1]) > 500;
    });
    goOn();
    await eventually("it is built again", () => built.length === 2);
    await eventually("it is served", () =>
      code.search(1, "needle").then(
        () => true,
        () => false,
      ),
    );
    expect(built[1]!.damaged).toBe(false);
  });
});

test("what is wrongly asked of the catalogue changes nothing, and the fleet goes on", async () => {
  code = new CodeFleet(fleet());
  await code.add("a");
  const url = code.scratch.repository("one", { "a.txt": "a" });
  const metadata = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, "x".repeat(512)]));
  const ask = (method: string, body: unknown): Promise<unknown> => code.call("catalogue", method, body);
  // More than are written at once.
  const many = Array.from({ length: 60 }, (_, i) => ({ url, name: `r${i}` }));
  for (const repositories of [
    [{ url: "https://h/a" }, { url: "ssh://h:22/a" }],
    [...many, { url, name: "r7" }],
    [...many, { url, name: "esc\u001b[31m" }],
    [...many, { url, name: "turned\u202e" }],
    [...many, { url, name: "large", metadata }],
  ])
    await expect(ask("add", { repositories })).rejects.toThrow(/: (add one of them|give)/);
  expect(await code.status()).toEqual([]);
  await code.take({ url, name: "one" });
  await expect(ask("set", { names: ["one"], metadata })).rejects.toThrow(/give it less metadata/);
  expect((await ask("set", { names: ["one", "one"], rank: 3 })) as object).toMatchObject({
    body: { changed: 1 },
  });
  expect(await code.status()).toMatchObject([{ name: "one", rank: 3, metadata: {} }]);
  await ask("remove", { names: ["one", "one"] });
  expect(await code.status()).toEqual([]);
});
