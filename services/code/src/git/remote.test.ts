import { expect, test } from "vitest";
import { parseRemote } from "./remote.ts";

test.each([
  ["https://github.com/a/b.git", "http", "github.com/a/b"],
  ["http://127.0.0.1:8080/a/b", "http", "127.0.0.1/a/b"],
  ["ssh://git@host.example:22/a/b", "ssh", "host.example/a/b"],
  ["git@github.com:a/b.git", "ssh", "github.com/a/b"],
  ["git://host/b", "git", "host/b"],
  ["http://[::1]:8080/a/b", "http", "[::1]/a/b"],
  ["/srv/a::b/c", "folder", "a::b/c"],
  ["/srv/repos/b/.git", "folder", "repos/b"],
  ["file:///srv/repos/b%20c", "folder", "repos/b c"],
])("%s is %s, named %s", (url, kind, name) => {
  expect(parseRemote(url)).toMatchObject({ kind, name });
});

test.each([
  ["", /empty/],
  ["--upload-pack=touch /tmp/x", /dash/],
  ["ext::sh -c touch% /tmp/x", /remote helpers/],
  ["::x", /remote helpers/],
  ["https://user:s3cret@host/a", /carries a user or a password/],
  ["https://token@host/a", /carries a user or a password/],
  [`https://${"s3cret".repeat(50)}@host/a`, /carries a user/],
  ["https://host/a?access=s3cret", /a query or a fragment/],
  ["https://host/a#s3cret", /a query or a fragment/],
  ["ftp://host/a", /ftp is not one of/],
  ["host:-oProxyCommand=x", /dash/],
  ["relative/path", /absolute path/],
  ["https://ho\nst/a", /control/],
  ["file://elsewhere/a", /no host/],
  ["file:///srv/a%0ab", /control/],
  ["file:///srv/%zz", /not properly encoded/],
])("%j is refused", (url, why) => {
  expect(() => parseRemote(url)).toThrow(why);
  expect(() => parseRemote(url)).not.toThrow(/s3cret|token@/);
});
