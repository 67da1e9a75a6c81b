/** Webhooks as servers of repositories send them, to a gateway that asks for tokens: which signatures open this door, and that they open no other. */
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Scratch } from "@keelson/code/git-fixtures";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";
import { eventually } from "./eventually.ts";

const SECRET = "it's a s3cret of ours";
/** The next one, as GitLab makes them, which the nodes know already. */
const KEY = Buffer.alloc(32, 42);
const SIGNING_TOKEN = `whsec_${KEY.toString("base64")}`;
const WITHIN_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), "keelson-webhook-"));
const scratch = new Scratch();
let up: KeelsonProcess;
let url = "";
let token = "";
let repository = "";

beforeAll(async () => {
  repository = scratch.repository("pushed", { "a.txt": "before\n" });
  const data = join(folder, "data");
  const secret = join(folder, "secret");
  const config = join(folder, "keelson.toml");
  writeFileSync(secret, `${SECRET}\n`);
  writeFileSync(
    config,
    `[code]\nwebhookSecret = ["file:${secret}", "env:NEXT_WEBHOOK_SECRET"]\npollMs = 3600000\n`,
  );
  up = new KeelsonProcess(
    `up --service code --data ${data} --listen 127.0.0.1:0 --nodes 1 --tokens store --config ${config}`.split(
      " ",
    ),
    { KEELSON_LOG: "debug", NEXT_WEBHOOK_SECRET: SIGNING_TOKEN },
  );
  url = (await up.says(/ready in .*: (http:\S+)/, 90_000))[1] ?? "";
  token = readFileSync(join(data, "first-token"), "utf8").trim();
  const added = await ask("/v1/code/repositories", {
    body: JSON.stringify({ repositories: [{ name: "pushed", url: repository }] }),
    headers: { authorization: `Bearer ${token}` },
  });
  if (added.status !== 200) throw new Error(added.text);
  await eventually("it is served", async () => (await finds("before")) === 1, WITHIN_MS);
}, 120_000);

afterAll(async () => {
  await stopAll();
  scratch.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Sent {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(path: string, { body, headers = {} }: Sent): Promise<{ status: number; text: string }> {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return { status: answer.status, text: await answer.text() };
}

const hook = (body: string, headers: Readonly<Record<string, string>>): ReturnType<typeof ask> =>
  ask("/v1/code/webhook", { body, headers });
const hmac = (body: string, secret = SECRET): string =>
  createHmac("sha256", secret).update(body).digest("hex");
/** As the Standard Webhooks have it. */
const standard = (body: string, seconds = Math.floor(Date.now() / 1_000)): Record<string, string> => ({
  "webhook-id": "m1",
  "webhook-timestamp": String(seconds),
  "webhook-signature": `v1,${createHmac("sha256", KEY).update(`m1.${seconds}.${body}`).digest("base64")}`,
});
const push = (): string => JSON.stringify({ ref: "refs/heads/main", repository: { clone_url: repository } });

async function finds(text: string): Promise<number> {
  const body = JSON.stringify({ Q: text });
  const { text: answer } = await ask("/api/search", { body, headers: { authorization: `Bearer ${token}` } });
  return (JSON.parse(answer) as { Result?: { FileCount: number } }).Result?.FileCount ?? -1;
}

test("a push that GitHub signs is served without a token, as JSON and as a form, also when it comes again", async () => {
  const asForm = (body: string): string => new URLSearchParams({ payload: body }).toString();
  const form = { "content-type": "application/x-www-form-urlencoded" };
  for (const [text, encode, headers] of [
    ["first", (body: string) => body, {}],
    ["second", asForm, form],
  ] as const) {
    scratch.commit(repository, { "a.txt": `${text}\n` });
    const body = encode(push());
    const signed = { ...headers, "x-github-event": "push", "x-hub-signature-256": `sha256=${hmac(body)}` };
    expect(await hook(body, signed)).toEqual({ status: 200, text: '{"poked":1}' });
    await eventually(`${text} is served`, async () => (await finds(text)) === 1, WITHIN_MS);
    const again = await Promise.all(Array.from({ length: 20 }, () => hook(body, signed)));
    // So many at once are more than are taken; none fails otherwise.
    expect(again.every(({ status }) => status === 200 || status === 429)).toBe(true);
  }
});

test.each([
  ["Gitea", (body: string) => ({ "x-gitea-event": "push", "x-gitea-signature": hmac(body) })],
  ["Forgejo", (body: string) => ({ "x-forgejo-event": "push", "x-forgejo-signature": hmac(body) })],
  [
    "Bitbucket",
    (body: string) => ({ "x-event-key": "repo:push", "x-hub-signature": `sha256=${hmac(body)}` }),
  ],
  ["GitLab", () => ({ "x-gitlab-event": "Push Hook", "x-gitlab-token": SECRET })],
  ["GitLab with a signing token", (body: string) => ({ "x-gitlab-event": "Push Hook", ...standard(body) })],
  ["a server with the next secret", (body: string) => ({ "x-gitea-signature": hmac(body, SIGNING_TOKEN) })],
])("what %s sends is taken", async (_, headersOf) => {
  const body = push();
  expect(await hook(body, headersOf(body))).toMatchObject({ status: 200 });
});

test("an event that is no push, as the ping that tries the way, is answered and left", async () => {
  const body = JSON.stringify({ zen: "Keep it logically awesome.", hook_id: 1 });
  const signed = { "x-github-event": "ping", "x-hub-signature-256": `sha256=${hmac(body)}` };
  expect(await hook(body, signed)).toEqual({ status: 200, text: '{"poked":0,"ignored":"ping"}' });
  expect(await hook(body, { ...signed, "x-hub-signature-256": `sha256=${hmac(body, "x")}` })).toMatchObject({
    status: 401,
  });
});

test.each([
  ["of another secret", (body: string) => ({ "x-hub-signature-256": `sha256=${hmac(body, "guess")}` })],
  ["of another body", () => ({ "x-hub-signature-256": `sha256=${hmac("other")}` })],
  [
    "with SHA-1",
    (body: string) => ({
      "x-hub-signature": `sha1=${createHmac("sha1", SECRET).update(body).digest("hex")}`,
    }),
  ],
  ["that is no signature", () => ({ "x-gitea-signature": "zz" })],
  ["that is empty", () => ({ "x-gitlab-token": "" })],
  ["that is nearly the secret", () => ({ "x-gitlab-token": `${SECRET}x` })],
])("a signature %s is refused, with a word on what to do", async (_, headersOf) => {
  const body = push();
  const { status, text } = await hook(body, headersOf(body));
  expect([status, text]).toEqual([401, expect.stringMatching(/WEBHOOK_REFUSED.*webhookSecret/)]);
});

test("what was signed an hour ago is refused, and what is not signed is not even read", async () => {
  const old = await hook(push(), standard(push(), Math.floor(Date.now() / 1_000) - 3_600));
  expect([old.status, old.text]).toEqual([401, expect.stringMatching(/36\d\d s away.*clocks/)]);
  const nonsense = await hook("this is no JSON", { "x-gitea-signature": hmac("other") });
  expect([nonsense.status, nonsense.text]).toEqual([401, expect.stringContaining("WEBHOOK_REFUSED")]);
  const signed = await hook("this is no JSON", { "x-gitea-signature": hmac("this is no JSON") });
  expect([signed.status, signed.text]).toEqual([400, expect.stringContaining("BAD_JSON")]);
});

test("without a signature a token is needed, and a signature opens nothing else", async () => {
  const body = push();
  const signed = { "x-hub-signature-256": `sha256=${hmac(body)}`, "x-gitlab-token": SECRET };
  expect((await hook(body, {})).status).toBe(401);
  expect((await hook(body, { authorization: "Bearer nonsense", ...signed })).status).toBe(401);
  expect((await hook(body, { authorization: `Bearer ${token}` })).status).toBe(200);
  const others = ["repositories", "repositories/remove", "repositories/set", "search", "list"];
  for (const path of [...others.map((each) => `/v1/code/${each}`), "/api/search", "/v1/fleet/tokens"])
    expect([path, (await ask(path, { body, headers: signed })).status]).toEqual([path, 401]);
});

test("bodies are bounded, and what is asked for too often from one place is put off", async () => {
  const body = JSON.stringify({ pad: "x".repeat(5 << 20) });
  const signed = { "x-hub-signature-256": `sha256=${hmac(body)}` };
  expect((await hook(body, signed)).status).toBe(413);
  const wrong = { "x-gitea-signature": hmac(push(), "guess") };
  const beganAt = performance.now();
  const statuses: number[] = [];
  while (statuses.length < 1_600 && !statuses.includes(429)) {
    const some = await Promise.all(Array.from({ length: 8 }, () => hook(push(), wrong)));
    statuses.push(...some.map(({ status }) => status));
  }
  // Twenty a second are heard; a machine that is busier than that puts nobody off.
  const perSecond = statuses.length / ((performance.now() - beganAt) / 1_000);
  expect(new Set(statuses)).toEqual(perSecond > 40 ? new Set([401, 429]) : new Set(statuses));
});

test("nothing that was printed holds the secret", () => {
  expect(up.all).not.toContain(SECRET);
  expect(up.all).not.toContain(KEY.toString("base64"));
});
