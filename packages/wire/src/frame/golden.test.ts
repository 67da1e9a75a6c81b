import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decodeFrame, encodeFrame, LENGTH_BYTES } from "./codec.ts";
import { KIND, type Frame } from "./frame.ts";
import { decodeHello, encodeHello, HELLO_PREFIX_BYTES, type Hello } from "./hello.ts";

/**
 * The frozen bytes of each kind of frame. A change that breaks these breaks every fleet in the middle of its upgrade: add a sample,
 * never change one.
 */
const folder = join(import.meta.dirname, "../../testdata");

function sample(name: string): Buffer {
  return Buffer.from(readFileSync(join(folder, `${name}.hex`), "utf8").replaceAll(/\s/g, ""), "hex");
}

const body = { key: "zoë", n: [0, -1, 300, 1.5, 2 ** 40], ok: true, none: null, blob: Buffer.from([0, 255]) };
const at = { when: new Date(1_700_000_000_123), nothing: undefined };

const frames: Record<string, Frame> = {
  request: { kind: KIND.request, id: 1, method: "request", timeoutMs: 5_000, body, trace: undefined },
  "request-trace": {
    kind: KIND.request,
    id: 70_000,
    method: "m",
    timeoutMs: 0.5,
    body: at,
    trace: "00-ab-01",
  },
  response: { kind: KIND.response, id: 1, body: ["ok", [3, 41], body] },
  failure: { kind: KIND.failure, id: 2, code: "OVERLOADED", message: "4096 calls in flight" },
  cancel: { kind: KIND.cancel, id: 3 },
  open: { kind: KIND.open, id: 4, method: "routes", credit: 256, body: { from: 17 }, trace: undefined },
  "open-trace": { kind: KIND.open, id: 4, method: "routes", credit: 256, body: null, trace: "00-ab-01" },
  item: { kind: KIND.item, id: 4, seq: 0, body: "first" },
  end: { kind: KIND.end, id: 4 },
  credit: { kind: KIND.credit, id: 4, n: 128 },
  ping: { kind: KIND.ping, nonce: 9 },
  pong: { kind: KIND.pong, nonce: 9 },
  goaway: { kind: KIND.goaway, code: "GOING_AWAY", message: "node-a is closing" },
};

const hellos: Record<string, Hello> = {
  hello: { min: 1, max: 1, minor: 0, name: "node-a", token: undefined },
  "hello-token": { min: 1, max: 1, minor: 0, name: "gateway", token: "secret" },
};

/** Written by a version 1.7 that does not exist yet, with fields and a kind that we do not know. */
const later = ["hello-minor-7", "request-minor-7", "kind-minor-7"];

test.each(Object.entries(frames))("%s is written as it was", (name, frame) => {
  expect(encodeFrame(frame, 65_536).toString("hex")).toBe(sample(name).toString("hex"));
});

test.each(Object.entries(frames))("%s is read as it was", (name, frame) => {
  const bytes = sample(name);
  expect(bytes.readUInt32BE(0)).toBe(bytes.length - LENGTH_BYTES);
  expect(decodeFrame(bytes, LENGTH_BYTES, bytes.length)).toEqual(frame);
});

test.each(Object.entries(hellos))("%s is written and read as it was", (name, hello) => {
  const bytes = sample(name);
  expect(encodeHello(hello).toString("hex")).toBe(bytes.toString("hex"));
  expect(decodeHello(bytes, HELLO_PREFIX_BYTES, bytes.length)).toEqual(hello);
});

test("a later minor version's hello is read, without what we do not know", () => {
  const bytes = sample("hello-minor-7");
  expect(decodeHello(bytes, HELLO_PREFIX_BYTES, bytes.length)).toEqual({ ...hellos["hello"], minor: 7 });
});

test("a later minor version's request is read, without what we do not know", () => {
  const bytes = sample("request-minor-7");
  expect(decodeFrame(bytes, LENGTH_BYTES, bytes.length)).toEqual({
    kind: KIND.request,
    id: 5,
    method: "request",
    timeoutMs: 100,
    body: { known: 1, unknown: { deep: [1] } },
    trace: "00-ab-01",
  });
});

test("a later minor version's new kind is passed over", () => {
  const bytes = sample("kind-minor-7");
  expect(decodeFrame(bytes, LENGTH_BYTES, bytes.length)).toBeUndefined();
});

test("every kind has a sample, and every sample is checked", () => {
  const kinds = [...Object.values(frames).map((frame) => frame.kind), KIND.hello];
  expect(new Set<number>(kinds)).toEqual(new Set<number>(Object.values(KIND)));
  const names = [...Object.keys(frames), ...Object.keys(hellos), ...later].map((name) => `${name}.hex`);
  expect(readdirSync(folder).sort()).toEqual(names.sort());
});
