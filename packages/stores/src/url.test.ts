import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { openStore, parseStoreUrl } from "./url.ts";

const FORMS = [
  "memory:, embedded:<folder>, embedded://<host>:<port>",
  "etcd://<host>:<port>[,<host>:<port>…][/<namespace>]",
  "redis[s]://<host>:<port>[/<database>][?namespace=<name>] or postgres://<user>@<host>:<port>/<database>[?schema=<name>]",
].join(", ");

test.each([
  ["memory:", { kind: "memory" }],
  ["MEMORY://", { kind: "memory" }],
  ["embedded:./data", { kind: "embedded", folder: "./data" }],
  ["embedded:data", { kind: "embedded", folder: "data" }],
  ["embedded:2024", { kind: "embedded", folder: "2024" }],
  ["embedded:/var/lib/keelson", { kind: "embedded", folder: "/var/lib/keelson" }],
  ["embedded:a b:c", { kind: "embedded", folder: "a b:c" }],
  ["embedded://localhost:7400", { kind: "remote", address: "localhost:7400" }],
  ["etcd://a:1/x", { kind: "etcd", endpoints: [{ host: "a", port: 1 }], namespace: "/x" }],
  ["embedded://[::1]:7400/", { kind: "remote", address: "[::1]:7400" }],
  ["redis://a:1/2", { kind: "redis", host: "a", port: 1, database: 2 }],
  ["rediss://a", { kind: "redis", host: "a", port: 6379, tls: {} }],
  ["postgres://u@a/d", { kind: "postgres", hosts: [{ host: "a", port: 5432 }], user: "u", database: "d" }],
  ["postgresql://u@a", { kind: "postgres", hosts: [{ host: "a", port: 5432 }], user: "u", database: "u" }],
])("%s is read", (url, parsed) => {
  expect(parseStoreUrl(url)).toEqual(parsed);
});

test.each([
  ["", `the store is empty: write ${FORMS}`],
  ["./data", `store "./data" names no kind: write embedded:./data, or ${FORMS}`],
  [" ", `the store is empty: write ${FORMS}`],
  [" etcd://a:1", "the store has a space before or after it: leave that out"],
  ["127.0.0.1:2379", `store "127.0.0.1:2379" names no kind: write etcd://127.0.0.1:2379, say, or ${FORMS}`],
  ["localhost:2379", `store "localhost:2379" names no kind: write etcd://localhost:2379, say, or ${FORMS}`],
  ["memory:5", "a memory store has no address: write memory:"],
  ["http://a:2379", `unknown store "http:" (did you mean "etcd:"?): write ${FORMS}`],
  ["embeded:./data", `unknown store "embeded:" (did you mean "embedded:"?): write ${FORMS}`],
  ["mem:", `unknown store "mem:": write ${FORMS}`],
  ["rediz://a", `unknown store "rediz:" (did you mean "redis:"?): write ${FORMS}`],
  ["postgre://a", `unknown store "postgre:" (did you mean "postgres:"?): write ${FORMS}`],
  ["memroy:", `unknown store "memroy:" (did you mean "memory:"?): write ${FORMS}`],
  ["mysql://root:secret@db/keelson", `unknown store "mysql:": write ${FORMS}`],
  ["memory:x", "a memory store has no address: write memory:"],
  ["embedded:", "embedded: names no folder: write embedded:./data, say"],
  [
    "embedded://localhost",
    "embedded://localhost is no host and port: write embedded://127.0.0.1:7400, say, or embedded:/path for a folder",
  ],
  [
    "embedded:///data",
    "embedded:///data is no host and port: write embedded://127.0.0.1:7400, say, or embedded:/path for a folder",
  ],
])("%j is refused with one line that says what to write", (url, message) => {
  expect(() => parseStoreUrl(url)).toThrow(expect.objectContaining({ code: "STORE_URL_INVALID", message }));
});

test("memory and embedded stores open and answer", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keelson-url-"));
  const options = { clock: new ManualClock(), random: Math.random };
  for (const url of ["memory:", `embedded:${folder}`]) {
    // oxlint-disable-next-line no-await-in-loop -- two.
    const store = await openStore(url, options);
    // oxlint-disable-next-line no-await-in-loop -- two.
    expect(await store.range("", { timeoutMs: 1000 })).toMatchObject({ entries: [], revision: 0 });
    // oxlint-disable-next-line no-await-in-loop -- two.
    await store.close();
  }
  rmSync(folder, { recursive: true });
});
