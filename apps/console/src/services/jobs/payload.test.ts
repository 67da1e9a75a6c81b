import { expect, test } from "vitest";
import { payloadOf, shown } from "./payload.ts";

test("a payload is JSON if it is, text if not, and a mistake when it only begins like JSON", () => {
  expect(payloadOf('{"a": [1]}')).toEqual({ a: [1] });
  expect(payloadOf("42")).toBe(42);
  expect(payloadOf("")).toBeNull();
  expect(payloadOf("hello {")).toBe("hello {");
  expect(() => payloadOf('{"a": ')).toThrow(/begins like JSON/);
});

test("what is shown can be read, and nothing is nothing", () => {
  expect(shown({ a: 1 })).toBe('{\n  "a": 1\n}');
  expect(shown(undefined)).toBe("");
});
