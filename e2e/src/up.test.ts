import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "./process/keelson-process.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-up-"));
afterEach(stopAll);
afterAll(() => rmSync(folder, { recursive: true }));

/** Long enough that whoever had to wait for it would fail the test. */
const TTL = "5m";

async function up(data: string, ...more: string[]): Promise<{ process: KeelsonProcess; url: string }> {
  const process = new KeelsonProcess([
    "up",
    "--data",
    data,
    "--listen",
    "127.0.0.1:0",
    "--ttl",
    TTL,
    "--service",
    "counter",
    ...more,
  ]);
  const [, url = ""] = await process.says(/ready in .*: (http:\S+)/, 60_000);
  return { process, url };
}

async function add(url: string, shard: string, by: number): Promise<unknown> {
  const answer = await fetch(`${url}/v1/counter/${shard}/add`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ by }),
  });
  return answer.json();
}

/** A verb against that gateway; its output as JSON. */
async function verb(url: string, ...args: string[]): Promise<unknown> {
  const process = new KeelsonProcess([...args, "--url", url, "--json"]);
  await process.endsWith(0);
  return JSON.parse(process.stdout.join("\n")) as unknown;
}

/** A command that is refused: its one line, and its exit code. */
async function refused(...args: string[]): Promise<{ line: string; code: number }> {
  const process = new KeelsonProcess(args);
  const code = await process.ended;
  expect(process.stderr).toHaveLength(1);
  return { line: process.stderr[0] ?? "", code };
}

test("serves until it is told to stop, and finds everything again, after a good end and after kill -9", async () => {
  const data = join(folder, "kept");
  const first = await up(data);
  expect(await add(first.url, "3", 5)).toEqual({ value: 5 });
  first.process.signal("SIGTERM");
  await first.process.endsWith(0);
  expect(first.process.stdout.at(-1)).toBe("stopped: everything is kept for the next start");
  expect(first.process.stderr).toEqual([]);

  const second = await up(data);
  expect(await add(second.url, "3", 2)).toEqual({ value: 7 });
  second.process.signal("SIGKILL");
  await second.process.ended;

  // Far below the TTL: what the killed process held is not waited for.
  const from = performance.now();
  const third = await up(data);
  expect(await add(third.url, "3", 1)).toEqual({ value: 8 });
  expect(performance.now() - from).toBeLessThan(120_000);
  third.process.signal("SIGINT");
  await third.process.endsWith(0);
}, 300_000);

test("a second one on the same folder is told who has it, and since when", async () => {
  const data = join(folder, "held");
  await up(data);
  const { line, code } = await refused("up", "--data", data, "--listen", "127.0.0.1:0");
  expect(line).toMatch(
    /^keelson: folder .*held is held by pid \d+ \(main\.js up\) since \d{4}-\d\d-\d\dT.*: stop that process/,
  );
  expect(code).toBe(1);
}, 300_000);

test("verbs see and steer the fleet through its gateway", async () => {
  const { url } = await up(join(folder, "verbs"));
  expect(await verb(url, "status")).toMatchObject({
    fleet: "main",
    members: 3,
    services: [{ service: "counter", held: 12, wanted: 12 }],
  });
  const nodes = (await verb(url, "nodes")) as { node: string; held: number; report: unknown }[];
  expect(nodes.map(({ node }) => node)).toEqual(["a", "b", "c"]);
  expect(nodes[0]?.report).toMatchObject({ node: "a" });
  expect(await verb(url, "shards", "counter")).toHaveLength(12);
  expect(await verb(url, "explain", "counter/7")).toMatchObject({
    placement: "ring/1",
    replicas: [{ holder: { how: "grant" } }],
  });
  expect(await verb(url, "plan", "--dry-run", "--without", "b")).toMatchObject([{ service: "counter" }]);
  expect(await verb(url, "drain", "b", "--reason", "new disk")).toEqual({
    node: "b",
    held: 0,
    already: false,
  });
  const drained = (await verb(url, "status")) as { drains: unknown; services: { held: number }[] };
  expect(drained.drains).toMatchObject([{ node: "b", reason: "new disk", held: 0 }]);
  expect(drained.services[0]?.held).toBe(12);
  await verb(url, "undrain", "b");
  const findings = (await verb(url, "doctor")) as { level: string }[];
  expect(findings.filter(({ level }) => level === "error")).toEqual([]);
  const events = new KeelsonProcess(["events", "--url", url, "--json"]);
  await events.endsWith(0);
  expect(events.stdout.map((line) => (JSON.parse(line) as { kind: string }).kind)).toContain("handed-over");
  expect(await verb(url, "counter", "add", "4", "6")).toEqual({ value: 6 });
  expect(await verb(url, "counter", "get", "4")).toEqual({ value: 6 });
}, 300_000);

test("what a gateway refuses is one line that says what to do", async () => {
  const { url } = await up(join(folder, "refusals"));
  const pin = await refused("pin", "counter/1", "a", "--url", url);
  expect(pin).toMatchObject({ code: 1 });
  expect(pin.line).toMatch(
    /counter is placed by ring\/1, which takes no wishes for single shards: drain a node instead/,
  );
  expect((await refused("explain", "counter/99", "--url", url)).line).toMatch(/its shards are 0 to 11/);
  expect((await refused("drain", "nobody", "--url", url)).line).toMatch(/there is no node nobody/);
  const none = await refused("status", "--url", "http://127.0.0.1:1");
  expect(none.line).toMatch(/no gateway at http:\/\/127\.0\.0\.1:1 .*: start one with keelson up/);
  expect((await refused("explain", "seven")).code).toBe(2);
}, 300_000);

test("a gateway with tokens lets in who shows one, and what it may do is what the token says", async () => {
  const tokens = join(folder, "tokens.json");
  const add = async (name: string, scope: string): Promise<string> => {
    const process = new KeelsonProcess([
      "token",
      "create",
      name,
      "--scope",
      scope,
      "--tokens",
      tokens,
      "--json",
    ]);
    await process.endsWith(0);
    return (JSON.parse(process.stdout.join("\n")) as { token: string }).token;
  };
  const admin = await add("ann", "admin");
  const reader = await add("bob", "read");
  expect(readFileSync(tokens, "utf8")).not.toContain(admin.slice(-20));
  const { url } = await up(join(folder, "tokens"), "--tokens", tokens);
  expect((await refused("status", "--url", url)).line).toMatch(
    /asks for a token: give it with KEELSON_TOKEN/,
  );
  expect((await refused("counter", "get", "1", "--url", url)).line).toMatch(/asks for a token: give it/);
  expect((await refused("drain", "a", "--url", url, "--token", reader)).line).toMatch(/needs admin/);
  expect(await verb(url, "status", "--token", admin)).toMatchObject({ members: 3 });
  expect(await verb(url, "counter", "get", "1", "--token", reader)).toEqual({ value: 0 });
}, 300_000);

test("a wrong key in a file is an error that says what was meant, and nothing is made", async () => {
  const file = join(folder, "up.toml");
  const data = join(folder, "never");
  writeFileSync(file, `data = "${data}"\n[up]\nnods = 2\n`);
  const { line, code } = await refused("up", "--config", file);
  expect(line).toMatch(/\[up\]: unknown key nods \(did you mean nodes\?\)/);
  expect(code).toBe(2);
  expect(existsSync(data)).toBe(false);
});

test("ends soon when its folder was removed while it ran, and says that nothing is kept", async () => {
  const data = join(folder, "removed");
  const { process } = await up(data);
  rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  process.signal("SIGTERM");
  const from = performance.now();
  await process.endsWith(1);
  // It takes a second; a machine that is busy may take longer, but not as long as something that was left open.
  expect(performance.now() - from).toBeLessThan(20_000);
  expect(process.stderr.at(-1)).toMatch(/store was removed while it was in use: what was kept there is gone/);
}, 90_000);
