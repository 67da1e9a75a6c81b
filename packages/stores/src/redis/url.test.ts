import { expect, test } from "vitest";
import { clock, random } from "../fixtures/real-clock.ts";
import { openRedis, parseRedisUrl } from "./url.ts";

const at = { kind: "redis", host: "10.0.0.1", port: 6379 };

test.each([
  ["//10.0.0.1:6379", at],
  ["//10.0.0.1", at],
  ["//10.0.0.1/", at],
  ["//[::1]:7000/3", { kind: "redis", host: "::1", port: 7000, database: 3 }],
  ["//:p%40ss%2Fw%3Ard@10.0.0.1", { ...at, password: "p@ss/w:rd" }],
  ["//fleet:se:cret@10.0.0.1", { ...at, user: "fleet", password: "se:cret" }],
  ["//10.0.0.1?namespace=team-a", { ...at, namespace: "team-a" }],
])("redis:%s is read", (rest, parsed) => {
  expect(parseRedisUrl(rest, "redis")).toEqual(parsed);
});

test("rediss: asks for TLS, and may name files and a server's name", () => {
  expect(parseRedisUrl("//10.0.0.1", "rediss")).toEqual({ ...at, tls: {} });
  expect(parseRedisUrl("//10.0.0.1?ca=/etc/ca.pem&cert=c&key=k&servername=r.local", "rediss")).toEqual({
    ...at,
    tls: { ca: "/etc/ca.pem", cert: "c", key: "k", servername: "r.local" },
  });
});

test.each([
  ["", /not followed by \/\//],
  ["//", /names no host/],
  ["//a:1,b:2", /several hosts/],
  ["//a:99999", /"a:99999" stands where a host and port belong/],
  ["//fleet@a", /a user goes with a password/],
  ["//:%zz@a", /percent-encoded/],
  ["//a/main", /the number of a database/],
  ["//a?namespace=a%20b", /letters, digits/],
  ["//a?ca=x", /"ca" is unknown/],
])("redis:%s is refused: %s", (rest, message) => {
  expect(() => parseRedisUrl(rest, "redis")).toThrow(
    expect.objectContaining({ code: "STORE_URL_INVALID", message: expect.stringMatching(message) as string }),
  );
});

test("a message never shows the password", () => {
  const bad = [
    "//:hush@a:99999",
    "//:hush@a/x",
    "//:hush@",
    "//:hush@a?x=1",
    "//:hu/hush@a",
    "//u:hush@hush@a",
  ];
  for (const rest of bad) expect(() => parseRedisUrl(rest, "redis")).toThrow(/^(?!.*hush)/);
});

test("a file that is not there is named before anything connects", async () => {
  const url = parseRedisUrl("//a:1?ca=/no/such/ca.pem", "rediss");
  await expect(openRedis(url, { clock, random })).rejects.toThrow(
    /ca= names a file that cannot be read: .*\/no\/such\/ca\.pem/,
  );
});
