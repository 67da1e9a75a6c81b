import { expect, test } from "vitest";
import { clock, random } from "../fixtures/real-clock.ts";
import { openPostgres, parsePostgresUrl } from "./url.ts";

const at = { kind: "postgres", hosts: [{ host: "10.0.0.1", port: 5432 }], user: "u", database: "d" };

test.each([
  ["//u@10.0.0.1:5432/d", at],
  ["//u@10.0.0.1/d", at],
  ["//u@10.0.0.1", { ...at, database: "u" }],
  ["//u:p%40ss%2Fw%3Ard@10.0.0.1/d", { ...at, password: "p@ss/w:rd" }],
  [
    "//u@a:1,[::1]:2/d",
    {
      ...at,
      hosts: [
        { host: "a", port: 1 },
        { host: "::1", port: 2 },
      ],
    },
  ],
  ["//u@10.0.0.1/d?schema=team_a&listen=off", { ...at, schema: "team_a", listen: false }],
  ["//u@10.0.0.1/d?tls", { ...at, tls: {} }],
  ["//u@10.0.0.1/d?sslmode=require", { ...at, tls: { verify: false } }],
  ["//u@10.0.0.1/d?sslmode=require&ca=c.pem", { ...at, tls: { ca: "c.pem" } }],
  ["//u@10.0.0.1/d?sslmode=verify-full", { ...at, tls: {} }],
  ["//u@10.0.0.1/d?sslmode=disable", at],
  [
    "//u@10.0.0.1/d?ca=a&cert=b&key=c&servername=n",
    { ...at, tls: { ca: "a", cert: "b", key: "c", servername: "n" } },
  ],
])("postgres:%s is read", (rest, parsed) => {
  expect(parsePostgresUrl(rest)).toEqual(parsed);
});

test.each([
  ["", /not followed by \/\//],
  ["//10.0.0.1/d", /names no user/],
  ["//u@/d", /names no host/],
  ["//u@a:99999/d", /"a:99999" stands where a host and port belong/],
  ["//u@a/d?schema=A", /a schema may have small letters/],
  ["//u@a/d?listen=maybe", /listen is on or off/],
  ["//u@a/d?sslmode=prefer", /sslmode is one of disable, require, verify-full/],
  ["//u@a/d?tls=yes", /tls is on or off/],
  ["//u@a/d?cert=c", /cert and key go together/],
  ["//u@a/d?pool=5", /"pool" is unknown/],
])("postgres:%s is refused: %s", (rest, message) => {
  expect(() => parsePostgresUrl(rest)).toThrow(
    expect.objectContaining({ code: "STORE_URL_INVALID", message: expect.stringMatching(message) as string }),
  );
});

test("a message never shows the password", () => {
  const bad = [
    "//u:hush@a:99999/d",
    "//u:hush@/d",
    "//u:hush@a/d?x=1",
    "//u:hu/hush@a/d",
    "//u:hush@hush@a/d",
  ];
  for (const rest of bad) expect(() => parsePostgresUrl(rest)).toThrow(/^(?!.*hush)/);
});

test("a file that is not there is named before anything connects", async () => {
  const url = parsePostgresUrl("//u@a:1?ca=/no/such/ca.pem");
  await expect(openPostgres(url, { clock, random })).rejects.toThrow(
    /ca= names a file that cannot be read: .*\/no\/such\/ca\.pem/,
  );
});
