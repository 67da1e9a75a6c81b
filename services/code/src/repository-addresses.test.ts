import { expect, test } from "vitest";
import { RepositoryAddresses, sameAddressMax } from "./repository-addresses.ts";

function addressesOf(urls: Map<number, string>): RepositoryAddresses {
  const addresses = new RepositoryAddresses((id) => urls.get(id));
  for (const [id, url] of urls) addresses.add(id, url);
  return addresses;
}

test("an address is found however it is written, and on its server alone", () => {
  const addresses = addressesOf(
    new Map([
      [1, "https://git.example.com/Team/tool.git"],
      [2, "ssh://git@other.example.com:2222/team/tool"],
      [3, "/srv/git/team/tool.git"],
    ]),
  );
  for (const url of [
    "https://git.example.com/team/tool",
    "git@git.example.com:team/tool.git",
    "ssh://git@git.example.com/Team/Tool.git/",
    "http://user@git.example.com/team/tool///",
  ])
    expect(addresses.find({ urls: [url] })).toEqual([1]);
  expect(addresses.find({ urls: ["https://other.example.com:2222/team/tool.git"] })).toEqual([2]);
  expect(addresses.find({ urls: ["/srv/git/team/tool"] })).toEqual([3]);
  expect(addresses.find({ urls: ["https://git.example.com/a/team/tool", "", "/", "tool"] })).toEqual([]);
  expect(addresses.find({ path: "TEAM/tool" })).toEqual([1, 2, 3]);
  expect(addresses.find({ path: "am/tool" })).toEqual([]);
});

test("what was removed or moved is no longer found, and several of one address all are, up to a bound", () => {
  const urls = new Map(Array.from({ length: 100 }, (_, i) => [i + 1, "https://h/a/b"]));
  const addresses = addressesOf(urls);
  expect(addresses.find({ urls: ["https://h/a/b"] })).toHaveLength(sameAddressMax);
  for (let id = 3; id <= 100; id++) {
    addresses.remove(id, "https://h/a/b");
    urls.delete(id);
  }
  expect(addresses.find({ urls: ["https://h/a/b", "git@h:a/b.git"] })).toEqual([1, 2]);
  addresses.remove(1, "https://h/a/b");
  addresses.add(1, "https://h/a/c");
  urls.set(1, "https://h/a/c");
  expect(addresses.find({ urls: ["https://h/a/b"] })).toEqual([2]);
  expect(addresses.find({ urls: ["https://h/a/c"] })).toEqual([1]);
  addresses.remove(2, "https://h/a/b");
  expect(addresses.find({ urls: ["https://h/a/b"], path: "a/b" })).toEqual([]);
});

test("a hostile address costs no more than its length", () => {
  const addresses = addressesOf(new Map([[1, "https://h/a/b"]]));
  const before = process.cpuUsage().user;
  for (const url of ["/".repeat(2_000_000) + "x", "@".repeat(2_000_000), ":".repeat(2_000_000)])
    expect(addresses.find({ urls: [url] })).toEqual([]);
  // It takes a tenth of a second; squared it would be hours.
  expect((process.cpuUsage().user - before) / 1_000).toBeLessThan(10_000);
});
