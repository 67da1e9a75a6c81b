/**
 * Secrets in all the wrong places of a real process: in addresses, headers, bodies and paths, of good and of bad requests. Afterwards whatever it printed, answered, kept or shows
 * on a page is searched for each of them.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-secrets-"));
const data = join(folder, "data");
let up: KeelsonProcess;
let url: string;
let first: string;

/** What must be found nowhere: the parts of tokens that are secret, and passwords. */
const secrets = new Map<string, string>();
/** Everything that came back, with what was asked. */
const seen: { readonly what: string; readonly text: string }[] = [];
const pages: { readonly path: string; readonly headers: Headers }[] = [];

const newSecret = (name: string): string => {
  const secret = randomBytes(32).toString("base64url");
  secrets.set(name, secret);
  return secret;
};

const knownToken = (name: string, token: string): string => {
  secrets.set(name, token.slice(-43));
  return token;
};

beforeAll(async () => {
  up = new KeelsonProcess(
    [
      "up",
      "--data",
      data,
      "--listen",
      "127.0.0.1:0",
      "--service",
      "counter,code,jobs",
      "--tokens",
      "store",
      "--nodes",
      "2",
      "--debug",
    ],
    { KEELSON_LOG: "debug" },
  );
  url = (await up.says(/ready in .*: (http:\S+)/, 120_000))[1] ?? "";
  first = knownToken("first token", readFileSync(join(data, "first-token"), "utf8").trim());
}, 150_000);

afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
});

interface Asked {
  readonly token?: string | undefined;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** The one answer that has the token in it. */
  readonly unseen?: boolean;
}

async function ask(path: string, asked: Asked = {}): Promise<{ status: number; text: string }> {
  const { token, method = "GET", body, headers = {}, unseen = false } = asked;
  const answer = await fetch(url + path, {
    method,
    redirect: "manual",
    headers: {
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  const text = await answer.text();
  if (!unseen)
    seen.push({ what: `${method} ${path.slice(0, 60)}`, text: JSON.stringify([...answer.headers]) + text });
  if (answer.headers.get("content-type")?.startsWith("text/html") === true)
    pages.push({ path, headers: answer.headers });
  return { status: answer.status, text };
}

/** What a page of ours loads, and what that loads: all its files. */
async function crawl(path: string, visited = new Set<string>()): Promise<void> {
  if (visited.has(path) || visited.size > 200) return;
  visited.add(path);
  const { text } = await ask(path);
  for (const [, found] of text.matchAll(/(?:src|href)="(\/[^"#?]+)"/g)) await crawl(found!, visited);
}

async function command(...args: string[]): Promise<string> {
  const process = new KeelsonProcess(args, { KEELSON_URL: url });
  await process.ended;
  return process.all;
}

async function abuse(): Promise<void> {
  const made = await ask("/v1/fleet/tokens", {
    token: first,
    method: "POST",
    body: { name: "reader", scope: "read" },
    unseen: true,
  });
  expect(made.status).toBe(200);
  const reader = knownToken("reader", (JSON.parse(made.text) as { token: string }).token);
  const revoked = await ask("/v1/fleet/tokens", {
    token: first,
    method: "POST",
    body: { name: "gone" },
    unseen: true,
  });
  const gone = JSON.parse(revoked.text) as { token: string; created: { id: string } };
  knownToken("revoked", gone.token);
  await ask(`/v1/fleet/tokens/${gone.created.id}`, { token: first, method: "DELETE" });
  const stray = newSecret("password in a query");
  const inPath = newSecret("token in a path");
  const inBody = newSecret("token in a body");
  const wrong = `keelson_${"0".repeat(16)}_${newSecret("token that nobody knows")}`;
  for (const token of [undefined, reader, gone.token, wrong, first]) {
    await ask(`/v1/counter/1?token=${reader}&password=${stray}`, { token });
    await ask(`/v1/counter/keelson_${"0".repeat(16)}_${inPath}`, { token });
    await ask(`/v1/nothing/${inPath}`, { token });
    await ask("/v1/counter/1/add", { token, method: "POST", body: `{"by": "${inBody}"` });
    await ask("/v1/counter/1/add", { token, method: "POST", body: { by: inBody } });
    await ask("/v1/counter/1/add", { token, method: "POST", body: { by: 1, [inBody]: inBody } });
    await ask(`/v1/fleet/drains/keelson_${"0".repeat(16)}_${inPath}`, {
      token,
      method: "PUT",
      body: { reason: 7, by: inBody },
    });
    await ask("/v1/fleet/tokens", { token, method: "POST", body: { name: "x", scope: inBody } });
    await ask(`/v1/fleet/tokens/keelson_${"0".repeat(16)}_${inPath}`, { token, method: "DELETE" });
    await ask("/v1/fleet/status", { headers: { authorization: `Basic ${stray}`, cookie: `token=${first}` } });
    await ask("/v1/fleet/status", {
      headers: { authorization: `Bearer ${wrong} ${stray}`, "keelson-timeout-ms": stray },
    });
    await ask("/v1/jobs/none", { token, headers: { traceparent: stray, accept: stray } });
  }
  const git = newSecret("password of a repository");
  await ask("/v1/code/repositories", {
    token: first,
    method: "POST",
    body: { repositories: [{ url: `http://ann:${git}@127.0.0.1:9/x.git`, name: "secret/x" }] },
  });
  await ask("/v1/code/webhook", {
    token: first,
    method: "POST",
    body: { url: `http://ann:${git}@127.0.0.1:9/x.git` },
  });
  const typed = newSecret("password in a command");
  for (const args of [
    ["status", "--url", `http://ann:${typed}@127.0.0.1:9`],
    ["status", "--store", `postgres://ann:${typed}@127.0.0.1:9/x`, "--debug"],
    ["status", "--store", `redis://:${typed}@127.0.0.1:9`],
    ["node", "--id", "z", "--store", `etcd://ann:${typed}@127.0.0.1:x`],
    ["gateway", "--store", `embeded://ann:${typed}@127.0.0.1`],
    ["node", "--id", "z", "--store", "memory:", "--objects", `s4://ann:${typed}@x`],
  ])
    seen.push({ what: `keelson ${args[0]} ${args[1]}`, text: await shortly(args) });
  seen.push({ what: "keelson token list", text: await command("token", "list", "--token", first) });
  seen.push({
    what: "keelson audit",
    text: await command("audit", "--token", first, "--json", "--limit", "1000"),
  });
  for (const path of [
    "/v1/fleet/status",
    "/v1/fleet/nodes?reports=true",
    "/v1/fleet/events",
    "/v1/fleet/doctor",
    "/v1/fleet/audit?limit=1000",
    "/v1/fleet/tokens",
    "/v1/fleet/shards",
    "/v1/fleet/shards/code/1",
    "/v1/code/repositories",
    "/v1/services",
    "/v1/console",
    "/metrics",
    "/metrics/nodes/a",
    "/openapi.json",
  ])
    await ask(path, { token: first });
  for (const path of ["/docs", "/console/", "/console/anything"]) await crawl(path);
}

/** A command that may wait for ever for a store that is not there. */
async function shortly(args: readonly string[]): Promise<string> {
  const process = new KeelsonProcess(args, { AWS_SECRET_ACCESS_KEY: newSecret("key of objects") });
  const timer = setTimeout(() => process.signal("SIGKILL"), 8_000);
  await process.ended;
  clearTimeout(timer);
  return process.all;
}

function filesBelow(place: string): string[] {
  return readdirSync(place, { recursive: true, encoding: "utf8" })
    .map((name) => join(place, name))
    .filter((path) => statSync(path).isFile());
}

test("after the abuse no log, answer, page or file has a secret, and every page keeps to its own", async () => {
  await abuse();
  up.signal("SIGTERM");
  await up.endsWith(0);
  seen.push({ what: "what the process printed", text: up.all });
  expect(seen.length).toBeGreaterThan(80);
  for (const path of filesBelow(data))
    if (!path.endsWith("/first-token"))
      seen.push({ what: `file ${path.slice(data.length)}`, text: readFileSync(path, "latin1") });
  const leaks = seen.flatMap(({ what, text }) =>
    [...secrets].filter(([, secret]) => text.includes(secret)).map(([name]) => `${name} in ${what}`),
  );
  expect(leaks).toEqual([]);
  expect(statSync(join(data, "first-token")).mode & 0o777).toBe(0o600);

  expect(pages.length).toBeGreaterThan(0);
  for (const { path, headers } of pages) {
    const policy = headers.get("content-security-policy") ?? "";
    expect([path, policy]).toEqual([path, expect.stringContaining("default-src 'none'")]);
    expect([path, policy]).not.toEqual([path, expect.stringMatching(/unsafe-|https?:|\*|data:/)]);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  }
}, 240_000);
