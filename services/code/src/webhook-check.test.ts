import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { Push, pushedOf } from "./api/pushed-repository.ts";
import { SecretSource } from "./git/index.ts";
import { WebhookCheck } from "./webhook-check.ts";

const body = Buffer.from("{}");
const signed = (secret: string) => ({
  headers: { "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` },
  body,
});

test("a secret that was exchanged is taken soon, and wrong signatures do not make it read again and again", async () => {
  let now = 0;
  let reads = 0;
  const environment = {
    secret: "old",
    get SECRET() {
      reads++;
      return this.secret;
    },
  };
  const check = new WebhookCheck(new SecretSource("env:SECRET", { now: () => now, environment }), () => now);
  expect(await check.problemOf(signed("old"))).toBeUndefined();
  environment.secret = "new";
  for (let i = 0; i < 100; i++) expect(await check.problemOf(signed("wrong"))).toMatch(/signature is wrong/);
  expect(reads).toBe(2);
  expect(await check.problemOf(signed("new"))).toBeUndefined();
  environment.secret = "newer";
  now = 5_000;
  expect(await check.problemOf(signed("newer"))).toBeUndefined();
  expect(await check.problemOf(signed("new"))).toMatch(/signature is wrong/);
});

test("a secret that is empty or gone opens nothing", async () => {
  const ports = { now: () => 0, environment: { EMPTY: "" } };
  for (const from of ["env:EMPTY", "env:NONE"]) {
    const check = new WebhookCheck(new SecretSource(from, ports), () => 0);
    await expect(check.problemOf(signed(""))).rejects.toMatchObject({ code: "BAD_CREDENTIALS_SOURCE" });
  }
  expect(await new WebhookCheck(undefined, () => 0).problemOf(signed(""))).toMatch(/webhookSecret/);
});

test.each([
  [
    "GitHub",
    { repository: { clone_url: "https://h/a/b.git", ssh_url: "git@h:a/b.git" } },
    { urls: ["https://h/a/b.git", "git@h:a/b.git"] },
  ],
  [
    "GitLab",
    { project: { git_http_url: "https://h/a/b.git" }, repository: { url: "git@h:a/b.git" } },
    { urls: ["git@h:a/b.git", "https://h/a/b.git"] },
  ],
  ["Bitbucket", { repository: { links: { html: { href: "https://h/a/b" } } } }, { urls: ["https://h/a/b"] }],
  ["Bitbucket of one's own", { repository: { slug: "b", project: { key: "A" } } }, { path: "A/b" }],
  ["nobody in particular", { name: "a/b" }, { name: "a/b" }],
  ["a server that tries the way", { repository: null, links: 3 }, {}],
])("which repository is meant is found in what %s sends", (_, sent, meant) => {
  expect(pushedOf(Push.parse(sent))).toEqual(meant);
});

test("what is said of a secret that cannot be read does not say where it is: anybody may ask", async () => {
  const source = new SecretSource("file:/nowhere/hidden/secret", { now: () => 0, environment: {} });
  const error: unknown = await source.read().catch((why: unknown) => why);
  expect(String(error)).toMatch(/cannot be read: ENOENT/);
  expect(String(error)).not.toMatch(/nowhere|hidden/);
});

test("a secret that many wait for is read once", async () => {
  let reads = 0;
  const environment = {
    get SECRET() {
      reads++;
      return reads > 1 ? "new" : undefined;
    },
  };
  const source = new SecretSource("env:SECRET", { now: () => 0, environment });
  const results = await Promise.allSettled(Array.from({ length: 16 }, () => source.read()));
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(reads).toBe(1);
  expect(await source.read()).toBe("new");
});
