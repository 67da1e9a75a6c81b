/** The samples in testdata were encoded by Google's protoc from etcd's own message definitions: ours must give and take the same bytes. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decodeStatus, decodeToken, encodeAuthenticate } from "./cluster.ts";
import { decodeTransactionResult, encodeTransaction } from "./kv.ts";
import { decodeLeaseReply, encodeGrant, encodeLease } from "./lease.ts";
import { decodeWatchReply, encodeProgress, encodeWatchCancel, encodeWatchCreate } from "./watch.ts";

const samples = JSON.parse(
  readFileSync(new URL("../../../testdata/etcd-messages.json", import.meta.url), "utf8"),
) as Record<string, { readonly hex: string }>;

function sample(name: string): Buffer {
  const { hex } = samples[name] ?? {};
  if (hex === undefined) throw new Error(`no sample ${name}`);
  return Buffer.from(hex, "hex");
}

const header = {
  clusterId: "e10b09bebbb8fbd5",
  memberId: "036e12cdcaf0cf1d",
  revision: Number.MAX_SAFE_INTEGER,
};

test.each([
  [
    "transaction",
    encodeTransaction({
      compares: [
        { kind: "value", key: "/keelson-incarnation", value: "00ff" },
        { kind: "revision", key: "/keelson/f/tenure/a", revision: 0 },
        { kind: "revision", key: "/keelson/f/era", revision: 4_294_967_301 },
      ],
      success: [
        {
          kind: "put",
          key: "/keelson/f/tenure/a",
          value: `${"x".repeat(200)}é`,
          lease: "7fffffffffffffff",
        },
        { kind: "put", key: "k", value: "" },
        { kind: "delete", key: "gone" },
      ],
      failure: [
        { kind: "range", query: { key: Buffer.from("/keelson-incarnation") } },
        { kind: "range", query: { key: Buffer.from("/keelson/f/tenure/a"), keysOnly: true } },
      ],
    }),
  ],
  [
    "page",
    encodeTransaction({
      compares: [],
      success: [
        {
          kind: "range",
          query: { key: Buffer.from("/keelson/"), end: Buffer.from("/keelson0"), limit: 1000 },
        },
      ],
      failure: [],
    }),
  ],
  ["watchCreate", encodeWatchCreate(5, Buffer.from("/keelson/"), Buffer.from("/keelson0"), 300)],
  ["watchCancel", encodeWatchCancel(5)],
  ["progress", encodeProgress()],
  ["grant", encodeGrant("7fffffffffffffff", 10)],
  ["grantSmall", encodeGrant("0000000100000000", 2)],
  ["lease", encodeLease("0123456789abcdef")],
  ["authenticate", encodeAuthenticate("root", "sécret")],
])("%s is encoded as protoc does it", (name, encoded) => {
  expect(encoded.toString("hex")).toBe(sample(name).toString("hex"));
});

test.each([
  [
    "transactionResult",
    decodeTransactionResult,
    {
      header,
      succeeded: true,
      results: [
        undefined,
        {
          entries: [
            { key: "/k", value: "é", modRevision: 4_294_967_301, lease: "0123456789abcdef" },
            { key: "b", value: "", modRevision: 2, lease: undefined },
          ],
          more: true,
        },
        undefined,
      ],
    },
  ],
  [
    "conflict",
    decodeTransactionResult,
    {
      header: { clusterId: "", memberId: "", revision: 12 },
      succeeded: false,
      results: [{ entries: [], more: false }],
    },
  ],
  [
    "watchEvents",
    decodeWatchReply,
    {
      header,
      watchId: 5,
      created: false,
      canceled: false,
      compactRevision: 0,
      cancelReason: "",
      events: [
        { deleted: false, entry: { key: "a", value: "1", modRevision: 9, lease: "0000000000000001" } },
        { deleted: true, entry: { key: "b", value: "", modRevision: 9, lease: undefined } },
      ],
    },
  ],
  [
    "watchCompacted",
    decodeWatchReply,
    expect.objectContaining({ watchId: 5, canceled: true, compactRevision: 30 }),
  ],
  ["watchProgress", decodeWatchReply, expect.objectContaining({ watchId: -1, events: [] })],
  ["leaseGone", decodeLeaseReply, { header, lease: "0123456789abcdef", ttlSeconds: -1, grantedSeconds: 0 }],
  ["leaseLives", decodeLeaseReply, { header, lease: "0123456789abcdef", ttlSeconds: 9, grantedSeconds: 10 }],
  ["token", decodeToken, "abc.42"],
  [
    "status",
    decodeStatus,
    {
      header,
      version: "3.4.23",
      databaseBytes: 24_576,
      databaseBytesInUse: 16_384,
      leaderId: "036e12cdcaf0cf1d",
      errors: ["NOSPACE"],
    },
  ],
] as const)("%s is read as protoc wrote it", (name, decode, expected) => {
  expect(decode(sample(name))).toEqual(expected);
});

test("a message that is cut short is refused, or is one that ends there; nothing is read past its end", () => {
  const whole = sample("transactionResult");
  const outcomes = Array.from({ length: whole.length }, (_, bytes) => {
    try {
      return `${decodeTransactionResult(whole.subarray(0, bytes)).results.length} results`;
    } catch (error) {
      return (error as Error).name;
    }
  });
  expect(new Set(outcomes)).toEqual(new Set(["0 results", "1 results", "2 results", "ProtoError"]));
});
