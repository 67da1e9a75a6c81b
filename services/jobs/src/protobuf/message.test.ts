import { expect, test } from "vitest";
import {
  bool,
  bytes,
  double,
  int,
  map,
  message,
  nested,
  optional,
  repeated,
  text,
  texts,
  uint,
} from "./message.ts";
import { ProtobufError } from "./reader.ts";

const INNER = message({ a: int(1) });
const ALL = message({
  name: text(1),
  count: int(2),
  big: uint(3),
  on: bool(4),
  raw: bytes(5),
  ratio: double(6),
  inner: nested(7, INNER),
  list: repeated(8, INNER),
  words: texts(9),
  labels: map(10),
  maybe: optional(16, "int"),
});

const VALUE = {
  name: "ü",
  count: -1,
  big: 2 ** 40,
  on: true,
  raw: Buffer.from([0, 255]),
  ratio: 0.5,
  inner: { a: 150 },
  list: [{ a: 1 }, { a: 0 }],
  words: ["x", ""],
  labels: { k: "v", __proto__x: "" },
  maybe: 0,
};

test("what is written is what is read", () => {
  const read = ALL.decode(ALL.encode(VALUE));
  expect({ ...read, labels: { ...read.labels } }).toEqual(VALUE);
});

test("the bytes are protobuf's", () => {
  // The example of the format's own documentation: field 1 = 150 is 08 96 01.
  expect(INNER.encode({ a: 150 }).toString("hex")).toBe("089601");
  expect(INNER.encode({ a: -1 }).toString("hex")).toBe("08ffffffffffffffffff01");
  expect(ALL.encode({ name: "hi", labels: { a: "b" }, maybe: 0 }).toString("hex")).toBe(
    "0a02686952060a0161120162800100",
  );
});

test("what is absent has its zero, and an unknown field is skipped", () => {
  const read = ALL.decode(Buffer.from("f80a01fa0a0161fd0a00000000f90a0000000000000000", "hex"));
  expect({ ...read, labels: { ...read.labels } }).toEqual({
    name: "",
    count: 0,
    big: 0,
    on: false,
    raw: new Uint8Array(0),
    ratio: 0,
    inner: undefined,
    list: [],
    words: [],
    labels: {},
    maybe: undefined,
  });
});

test.each([
  ["10", "ends within a number"],
  ["10ffffffffffffffffffff01", "longer than ten bytes"],
  ["0a05616263", "longer than the message"],
  ["0a02c328", "not UTF-8"],
  ["00", "no field 0"],
  ["0b", "wire type 3"],
  ["1200", "wire type 2, not 0"],
])("%s is refused", (hex, problem) => {
  const decode = (): unknown => ALL.decode(Buffer.from(hex, "hex"));
  expect(decode).toThrow(ProtobufError);
  expect(decode).toThrow(problem);
});

test("any message with bytes cut off or changed is read or refused, never a crash", () => {
  const whole = ALL.encode(VALUE);
  for (let at = 0; at < whole.length; at += 1) {
    for (const damaged of [
      whole.subarray(0, at),
      Buffer.from(whole.map((byte, index) => (index === at ? byte ^ 0x55 : byte))),
    ]) {
      try {
        ALL.decode(damaged);
      } catch (error) {
        if (!(error instanceof ProtobufError)) throw error;
      }
    }
  }
  expect(whole.length).toBeGreaterThan(50);
});
