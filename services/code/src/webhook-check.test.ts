import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Push, pushedOf } from "./api/pushed-repository.ts";
import { SecretSource } from "./git/index.ts";
import { WebhookCheck } from "./webhook-check.ts";

const body = Buffer.from("{}");
const signed = (secret: string) => ({
  headers: { "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` },
  body,
});
const WALL = Date.UTC(2026, 10, 16);

function checking(
  from: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  now = (): number => 0,
): WebhookCheck {
  const sources = from.map((each) => new SecretSource(each, { now, environment }));
  return new WebhookCheck(sources, { now, wall: () => WALL });
}

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
  const check = checking(["env:SECRET"], environment, () => now);
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
  for (const from of ["env:EMPTY", "env:NONE"]) {
    const check = checking([from], { EMPTY: "" });
    await expect(check.problemOf(signed(""))).rejects.toMatchObject({ code: "BAD_CREDENTIALS_SOURCE" });
  }
  expect(await checking([], {}).problemOf(signed(""))).toMatch(/webhookSecret/);
});

test("while a secret is exchanged both are taken, and one that cannot be read keeps the other from nothing", async () => {
  const environment: Record<string, string | undefined> = { OLD: "old", NEW: "new" };
  const check = checking(["env:OLD", "env:NEW"], environment);
  for (const secret of ["old", "new"]) expect(await check.problemOf(signed(secret))).toBeUndefined();
  expect(await check.problemOf(signed("older"))).toMatch(/signature is wrong/);
  const half = checking(["env:GONE", "env:NEW"], environment);
  expect(await half.problemOf(signed("new"))).toBeUndefined();
  await expect(half.problemOf(signed("old"))).rejects.toMatchObject({ code: "BAD_CREDENTIALS_SOURCE" });
});

describe("GitLab's signing token", () => {
  const key = Buffer.alloc(32, 7);
  const check = checking(["env:A", "env:B"], { A: "of others", B: `whsec_${key.toString("base64")}` });
  const signedBy = (given: Buffer, { id = "m1", time = WALL / 1_000, of = body } = {}) => {
    const made = createHmac("sha256", given).update(`${id}.${time}.`).update(of).digest("base64");
    return {
      headers: {
        "webhook-id": id,
        "webhook-timestamp": String(time),
        "webhook-signature": `v1,${made}`,
      },
      body,
    };
  };

  test("signs id, time and body", async () => {
    const right = signedBy(key);
    expect(await check.problemOf(right)).toBeUndefined();
    const { headers } = right;
    const several = { ...headers, "webhook-signature": `v1a,x v1,=== ${headers["webhook-signature"]}` };
    expect(await check.problemOf({ headers: several, body })).toBeUndefined();
    for (const wrong of [
      signedBy(Buffer.alloc(32, 8)),
      signedBy(key, { of: Buffer.from("other") }),
      { headers: { ...headers, "webhook-id": "m2" }, body },
      { headers: { ...headers, "webhook-signature": headers["webhook-signature"].slice(3) }, body },
    ])
      expect(await check.problemOf(wrong)).toMatch(/signature is wrong/);
  });

  test("is not taken when it is old, of the future or without a time", async () => {
    for (const seconds of [-299, 299])
      expect(await check.problemOf(signedBy(key, { time: WALL / 1_000 + seconds }))).toBeUndefined();
    for (const seconds of [-301, 301])
      expect(await check.problemOf(signedBy(key, { time: WALL / 1_000 + seconds }))).toMatch(
        /301 s away.*clocks/,
      );
    const { headers } = signedBy(key);
    for (const lacking of ["webhook-id", "webhook-timestamp"])
      expect(await check.problemOf({ headers: { ...headers, [lacking]: "" }, body })).toMatch(
        /needs webhook-id/,
      );
  });

  test("is needed only where there is a signature: GitLab tells id and time with a secret token too", async () => {
    const { "webhook-signature": _, ...headers } = signedBy(key, { time: 1 }).headers;
    expect(
      await check.problemOf({ headers: { ...headers, "x-gitlab-token": "of others" }, body }),
    ).toBeUndefined();
    expect(await check.problemOf({ headers, body })).toMatch(/not signed/);
  });
});

test("a body of megabytes does not hold up the event loop, whoever sends it", async () => {
  const large = Buffer.alloc(32 << 20, 97);
  const secrets = { A: "a", B: "b", C: "c", D: "d" };
  const check = checking(["env:A", "env:B", "env:C", "env:D"], secrets);
  let turns = 0;
  let over = false;
  const turn = (): void => {
    turns += 1;
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  const headers = { "x-hub-signature-256": "0".repeat(64) };
  expect(await check.problemOf({ headers, body: large })).toMatch(/wrong/);
  over = true;
  // Eight times 32 MB take a tenth of a second at the least, and others have a turn every 5 ms.
  expect(turns).toBeGreaterThan(4);
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
