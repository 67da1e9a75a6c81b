import { expect, test } from "vitest";
import { MalformedFrame, WireFailure } from "../errors.ts";
import { decodeFrame, encodeFrame, encodeValue, LENGTH_BYTES } from "./codec.ts";
import { KIND, type Frame } from "./frame.ts";

const MIB = 1024 * 1024;

function response(body: unknown): Frame {
  return { kind: KIND.response, id: 1, body };
}

function decode(bytes: Buffer): Frame | undefined {
  return decodeFrame(bytes, LENGTH_BYTES, bytes.length);
}

function roundTrip(body: unknown): unknown {
  const frame = decode(encodeFrame(response(body), MIB));
  return frame?.kind === KIND.response ? frame.body : undefined;
}

test.each([
  [null],
  [undefined],
  [true],
  [-1],
  [2 ** 40],
  [1.5],
  [123n],
  ["zoë"],
  ["x".repeat(70_000)],
  [[]],
  [{ a: { b: [1, { c: undefined }] } }],
  [new Date(1_700_000_000_123)],
  [Object.fromEntries(Array.from({ length: 70_000 }, (_, i) => [`k${i}`, i]))],
])("body %# arrives as it was", (body) => {
  expect(roundTrip(body)).toEqual(body);
});

test("bytes arrive as bytes, and do not keep the chunk that they arrived in", () => {
  const bytes = encodeFrame(response(new Uint8Array([1, 2, 3])), MIB);
  const chunk = Buffer.concat([bytes, Buffer.alloc(60_000)]);
  const frame = decodeFrame(chunk, LENGTH_BYTES, bytes.length);
  const body = frame?.kind === KIND.response ? frame.body : undefined;
  expect(body).toEqual(Buffer.from([1, 2, 3]));
  expect((body as Buffer).buffer).not.toBe(chunk.buffer);
});

test("a frame that is too large is refused with its size and the limit", () => {
  expect(() => encodeFrame(response("x".repeat(2_000)), 1_000)).toThrow(/frame of 20\d\d bytes .* 1000/);
});

test("a circular body is refused, and the encoder still works", () => {
  const body: Record<string, unknown> = {};
  body["self"] = body;
  expect(() => encodeFrame(response(body), MIB)).toThrow(WireFailure);
  expect(roundTrip({ a: 1 })).toEqual({ a: 1 });
});

test("a body that the other side would refuse is refused before it is sent", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 600; i += 1) deep = [deep];
  expect(() => encodeFrame(response(deep), MIB)).toThrow(/nested deeper/);
  const wide = Array.from({ length: 1_100_000 }, () => []);
  expect(() => encodeFrame(response(wide), 16 * MIB)).toThrow(/lists and maps/);
});

test("a method's name that the other side would refuse is refused before it is sent", () => {
  const method = "m".repeat(201);
  const frame = { kind: KIND.request, id: 1, method, timeoutMs: 1, body: 1, trace: undefined } as const;
  expect(() => encodeFrame(frame, MIB)).toThrow(/200 characters/);
});

test("a key named __proto__ does not reach a prototype", () => {
  const raw = { elements: [KIND.response, 1, JSON.parse('{"__proto__": {"polluted": true}}') as unknown] };
  const frame = decode(encodeValue(raw.elements, MIB));
  const body = frame?.kind === KIND.response ? frame.body : undefined;
  expect((body as { polluted?: boolean }).polluted).toBeUndefined();
  expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
});

test("elements beyond those that are known are ignored", () => {
  expect(decode(encodeValue([KIND.cancel, 7, "new", { field: 1 }], MIB))).toEqual({
    kind: KIND.cancel,
    id: 7,
  });
});

test("a kind that is not known is no frame, and no error", () => {
  expect(decode(encodeValue([99, 1, "?"], MIB))).toBeUndefined();
});

test.each([
  [{ kind: 1 }],
  ["request"],
  [[]],
  [["1", 1]],
  [[-1]],
  [[1.5, 1]],
  [[KIND.request]],
  [[KIND.request, "1", "m", 1, null]],
  [[KIND.request, 1, 5, 1, null]],
  [[KIND.request, 1, "m".repeat(201), 1, null]],
  [[KIND.request, 1, "m", -1, null]],
  [[KIND.request, 1, "m", NaN, null]],
  [[KIND.request, 1, "m", Infinity, null]],
  [[KIND.request, 1, "m", 1, null, 5]],
  [[KIND.request, 1n, "m", 1, null]],
  [[KIND.response, -1, null]],
  [[KIND.failure, 1, "CODE"]],
  [[KIND.open, 1, "m", "all", null]],
  [[KIND.item, 1, 0.5, null]],
  [[KIND.credit, 1, -5]],
  [[KIND.ping]],
  [[KIND.goaway, 1, 2]],
  [[KIND.hello, { min: 1, max: 1, name: "late" }]],
])("a list of the wrong shape is malformed (%#)", (elements) => {
  const bytes = encodeValue(elements, MIB);
  expect(() => decode(bytes)).toThrow(MalformedFrame);
});
