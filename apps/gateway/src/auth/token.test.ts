import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { refusal } from "@keelson/runtime";
import { ManualClock, TestFleet } from "@keelson/testkit";
import { afterEach, expect, test } from "vitest";
import { Authority } from "./authority.ts";
import { createToken, TokenCheck } from "./token.ts";
import { readTokenFile, tokenKey, tokensFromFile, tokensFromStore, writeTokenFile } from "./token-source.ts";
import { tokensInFile, tokensInStore } from "./token-keeper.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

test("a token is who it says, and nothing that is not exactly it is", () => {
  const { token, record } = createToken({ name: "ci", scope: "write", tenants: ["one"] }, 1_000);
  const other = createToken({ name: "other", scope: "admin" }, 1_000);
  const check = new TokenCheck((id) => (id === record.id ? record : undefined));
  const who = { name: "ci", tokenId: record.id, scope: "write", tenants: ["one"] };
  expect(check.principalOf(token, 2_000)).toEqual(who);
  expect(check.principalOf(token, 2_000)).toEqual(who);
  for (const wrong of [
    "",
    token.slice(0, -1),
    `${token}x`,
    token.replace(/.$/, (c) => (c === "A" ? "B" : "A")),
    token.replace("keelson_", "keelson-"),
    other.token,
    `keelson_${record.id}_${other.token.slice(-43)}`,
  ])
    expect([wrong, check.principalOf(wrong, 2_000)]).toEqual([wrong, undefined]);
});

test("neither the record nor the principal holds the secret", () => {
  const { token, record } = createToken({ name: "ci", scope: "read" }, 1_000);
  const secret = token.slice(-43);
  expect(JSON.stringify(record)).not.toContain(secret);
  expect(JSON.stringify(new TokenCheck(() => record).principalOf(token, 0))).not.toContain(record.sha256);
});

test("an expired token is nobody, also one that was somebody before", () => {
  const { token, record } = createToken({ name: "ci", scope: "read", expiresAt: 5_000 }, 1_000);
  const check = new TokenCheck(() => record);
  expect(check.principalOf(token, 4_999)?.name).toBe("ci");
  expect(check.principalOf(token, 5_000)).toBeUndefined();
});

test("a token that is revoked, or whose rights change, changes at once", () => {
  const { token, record } = createToken({ name: "ci", scope: "admin" }, 1_000);
  let now: typeof record | undefined = record;
  const check = new TokenCheck(() => now);
  expect(check.principalOf(token, 0)?.scope).toBe("admin");
  now = { ...record, scope: "read" };
  expect(check.principalOf(token, 0)?.scope).toBe("read");
  now = undefined;
  expect(check.principalOf(token, 0)).toBeUndefined();
});

test.each([
  [{ scope: "read" }, { scope: "read" }, true],
  [{ scope: "read" }, { scope: "write" }, false],
  [{ scope: "admin" }, { scope: "write" }, true],
  [{ scope: "admin", services: ["code"] }, { scope: "read" }, false],
  [{ scope: "admin", services: ["jobs"] }, { scope: "read" }, true],
  [{ scope: "admin", tenants: ["one"] }, { scope: "read", tenant: "one" }, true],
  [{ scope: "admin", tenants: ["one"] }, { scope: "read", tenant: "two" }, false],
  [{ scope: "admin", tenants: ["one"] }, { scope: "read" }, false],
] as const)("a token with %j asking for %j: %s", (token, wanted, may) => {
  expect(refusal({ name: "t", ...token }, { service: "jobs", ...wanted }) === undefined).toBe(may);
});

test("a token file is read again when it changes, and kept as it was when it breaks", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keelson-tokens-"));
  ends.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "tokens.json");
  const first = createToken({ name: "first", scope: "read" }, 1).record;
  const second = createToken({ name: "second", scope: "read" }, 1).record;
  await writeTokenFile(path, [first]);
  const clock = new ManualClock();
  const problems: string[] = [];
  const source = tokensFromFile(path, clock, (problem) => problems.push(problem));
  await source.start();
  ends.push(() => source.stop());
  expect(source.find(first.id)).toEqual(first);
  const changed = async (done: () => boolean): Promise<void> => {
    // The clock is ours, the disk is not.
    for (let i = 0; i < 1_000 && !done(); i++) {
      await clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(done()).toBe(true);
  };
  await writeTokenFile(path, [second]);
  await changed(() => source.find(second.id) !== undefined);
  expect(source.find(first.id)).toBeUndefined();
  writeFileSync(path, '{"tokens": [{"id": "x"}]}');
  await changed(() => problems.length > 0);
  expect(source.find(second.id)).toEqual(second);
  await expect(readTokenFile(path)).rejects.toThrow("is no token file");
  await expect(tokensFromFile(join(folder, "none"), clock).start()).rejects.toThrow("ENOENT");
});

test("tokens in the store come and go with their keys", async () => {
  const { store } = new TestFleet({ services: [] });
  ends.push(() => store.close());
  const { record } = createToken({ name: "kept", scope: "write" }, 1);
  const keeper = tokensInStore(store, "test", 1_000);
  await keeper.add(record);
  expect(await keeper.list()).toEqual([record]);
  const key = tokenKey("test", record.id);
  const [entry] = (await store.range(key, { timeoutMs: 1_000 })).entries;
  const source = tokensFromStore();
  const parsed = { kind: "token", rest: record.id } as never;
  source.keyChanged?.(parsed, entry?.value);
  expect(source.find(record.id)).toEqual(record);
  expect(await keeper.remove(record.id)).toEqual(record);
  expect(await keeper.remove(record.id)).toBeUndefined();
  expect((await store.range(key, { timeoutMs: 1_000 })).entries).toEqual([]);
  source.keyChanged?.(parsed, undefined);
  expect(source.find(record.id)).toBeUndefined();
  source.keyChanged?.(parsed, '{"v":1}');
  expect(source.find(record.id)).toBeUndefined();
});

test("changes of a token file by many at once are all kept, and a lock whose owner died is taken over", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keelson-tokens-"));
  ends.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "tokens.json");
  const records = Array.from(
    { length: 8 },
    (_, n) => createToken({ name: `t${n}`, scope: "read" }, 1).record,
  );
  await Promise.all(records.map((record) => tokensInFile(path).add(record)));
  expect(await tokensInFile(path).list()).toHaveLength(8);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(`${path}.lock`, "");
  utimesSync(`${path}.lock`, 1, 1);
  expect(await tokensInFile(path).remove(records[0]!.id)).toEqual(records[0]);
  expect(existsSync(`${path}.lock`)).toBe(false);
  expect(await tokensInFile(path).list()).toHaveLength(7);
  // Many find the same dead lock: one of them takes it over, and the others wait for that one.
  writeFileSync(`${path}.lock`, "");
  utimesSync(`${path}.lock`, 1, 1);
  await Promise.all(records.map(({ id }) => tokensInFile(path).remove(id)));
  expect(await tokensInFile(path).list()).toEqual([]);
  expect(readdirSync(folder)).toEqual(["tokens.json"]);
});

test("a gateway that has heard nothing for too long takes no token, and says that it cannot tell", () => {
  const clock = new ManualClock();
  const { record, token } = createToken({ name: "ann", scope: "admin" }, clock.wall());
  const source = tokensFromStore();
  source.keyChanged?.({ kind: "token", rest: record.id } as never, JSON.stringify(record));
  let staleMs = 0;
  const ask = (staleMsMax: number): string => {
    try {
      return new Authority(source, clock, { staleMsMax, staleMs: () => staleMs }).identify(`Bearer ${token}`)
        .name;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  expect([ask(0), ask(60_000)]).toEqual(["ann", "ann"]);
  staleMs = 60_001;
  expect([ask(0), ask(60_000)]).toEqual(["ann", "NOT_READY"]);
});
