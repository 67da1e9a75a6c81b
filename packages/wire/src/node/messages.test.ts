import { expect, test } from "vitest";
import type { NodeReply, NodeRequest } from "@keelson/kernel";
import { WireFailure } from "../errors.ts";
import { decodeReply, decodeRequest, encodeReply, encodeRequest } from "./messages.ts";

const request: NodeRequest = {
  service: "jobs",
  shard: "tenants-7",
  replica: 0,
  method: "enqueue",
  mode: "write",
  body: { n: 1 },
  timeoutMs: 500,
};

const replies: readonly NodeReply[] = [
  { kind: "ok", epoch: { era: 3, revision: 41 }, body: [1] },
  { kind: "not-owner" },
  { kind: "not-owner", hint: { node: "b", address: "10.0.0.2:7000" } },
  { kind: "not-owner", hint: { node: "b", address: "10.0.0.2:7000", replica: 1 } },
  { kind: "warming", progress: 0.25 },
  { kind: "overloaded", reason: "queue" },
  { kind: "quarantined", reason: "5 strikes" },
  { kind: "error", code: "JOB_UNKNOWN", message: "no such job" },
];

test("a request arrives as it was, with and without its trace", () => {
  expect(decodeRequest(encodeRequest(request))).toEqual(request);
  expect(decodeRequest(encodeRequest({ ...request, trace: "t" }))).toEqual({ ...request, trace: "t" });
});

test("a request with fields from a later version is read without them", () => {
  expect(decodeRequest([...encodeRequest({ ...request, trace: "t" }), "later"])).toEqual({
    ...request,
    trace: "t",
  });
});

test.each(replies.map((reply) => [reply.kind, reply] as const))(
  "a reply %s arrives as it was",
  (_, reply) => {
    expect(decodeReply(encodeReply(reply))).toEqual(reply);
  },
);

test("an epoch travels as [era, revision]", () => {
  expect(encodeReply(replies[0]!)).toEqual(["ok", [3, 41], [1]]);
});

test.each([
  [null],
  [{ service: "jobs" }],
  [[]],
  [[1, "s", 0, "m", "read", null, 5]],
  [["jobs", "", 0, "m", "read", null, 5]],
  [["jobs", "x".repeat(300), 0, "m", "read", null, 5]],
  [["jobs", "s", -1, "m", "read", null, 5]],
  [["jobs", "s", 0.5, "m", "read", null, 5]],
  [["jobs", "s", 0, {}, "read", null, 5]],
  [["jobs", "s", 0, "m", "delete", null, 5]],
  [["jobs", "s", 0, "m", "read", null, "5"]],
  [["jobs", "s", 0, "m", "read", null, 0]],
])("request %j is a BAD_REQUEST", (value) => {
  expect(() => decodeRequest(value)).toThrow(WireFailure);
});

test.each([
  [null],
  [{}],
  [[]],
  [["ok"]],
  [["ok", [1], null]],
  [["ok", [1, "2"], null]],
  [["ok", [-1, 2], null]],
  [["error", 5, "m"]],
  [["later-kind", 1]],
  [[Symbol.iterator.toString()]],
])("reply %j is an error reply that says it cannot be read", (value) => {
  expect(decodeReply(value)).toMatchObject({ kind: "error", code: "BAD_REPLY" });
});

test("a reply with less than it should have still says its kind", () => {
  expect(decodeReply(["not-owner", 5, 6])).toEqual({ kind: "not-owner" });
  expect(decodeReply(["warming", "half"])).toEqual({ kind: "warming", progress: 0 });
  expect(decodeReply(["warming", 7])).toEqual({ kind: "warming", progress: 1 });
  expect(decodeReply(["overloaded"])).toEqual({ kind: "overloaded", reason: "no reason given" });
});
