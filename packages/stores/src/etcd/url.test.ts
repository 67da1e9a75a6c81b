import { clock, random } from "../fixtures/real-clock.ts";
import { expect, test } from "vitest";
import { openEtcd, parseEtcdUrl } from "./url.ts";

const one = [{ host: "10.0.0.1", port: 2379 }];

test.each([
  ["//10.0.0.1:2379", { endpoints: one }],
  ["//10.0.0.1", { endpoints: one }],
  ["//10.0.0.1/", { endpoints: one }],
  [
    "//a:1,b:2,[::1]:3",
    {
      endpoints: [
        { host: "a", port: 1 },
        { host: "b", port: 2 },
        { host: "::1", port: 3 },
      ],
    },
  ],
  ["//10.0.0.1/prod/eu/", { endpoints: one, namespace: "/prod/eu" }],
  ["//root:p%40ss:word@10.0.0.1", { endpoints: one, user: { name: "root", password: "p@ss:word" } }],
  ["//root:@10.0.0.1", { endpoints: one, user: { name: "root", password: "" } }],
  ["//10.0.0.1?tls", { endpoints: one, tls: {} }],
  ["//10.0.0.1?tls=off", { endpoints: one }],
  [
    "//10.0.0.1/x?ca=/etc/ca.pem&cert=c&key=k&servername=etcd.local",
    {
      endpoints: one,
      namespace: "/x",
      tls: { ca: "/etc/ca.pem", cert: "c", key: "k", servername: "etcd.local" },
    },
  ],
])("etcd:%s is read", (rest, parsed) => {
  expect(parseEtcdUrl(rest)).toEqual({ kind: "etcd", ...parsed });
});

test.each([
  ["", /not followed by \/\//],
  ["//", /names no host/],
  ["//a:1,", /names no host, or one too few/],
  ["//a:99999", /"a:99999" where a host and port belong/],
  ["//root@a:1", /user and a password/],
  ["//root:%zz@a:1", /percent-encoded/],
  ["//a:1/b c", /namespace "b c"/],
  ["//a:1?tsl=on", /"tsl" is unknown: there are tls, ca, cert, key, servername/],
  ["//a:1?tls=yes", /tls=yes/],
  ["//a:1?tls=off&ca=x", /no other parameter/],
  ["//a:1?cert=c", /cert and key go together/],
])("etcd:%s is refused: %s", (rest, message) => {
  expect(() => parseEtcdUrl(rest)).toThrow(
    expect.objectContaining({ code: "STORE_URL_INVALID", message: expect.stringMatching(message) as string }),
  );
});

test("a message never shows the password", () => {
  for (const rest of ["//root:hush@a:99999", "//root:hush@a:1/b c", "//root:hush@", "//root:hush@a:1?x=1"]) {
    expect(() => parseEtcdUrl(rest)).toThrow(/^(?!.*hush)/);
  }
});

test("a file that is not there is named before anything connects", () => {
  expect(() => openEtcd(parseEtcdUrl("//a:1?ca=/no/such/ca.pem"), { clock, random })).toThrow(
    /ca= names a file that cannot be read: .*\/no\/such\/ca\.pem/,
  );
});
