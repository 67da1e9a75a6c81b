import { unpack } from "msgpackr";
import { expect, test } from "vitest";
import { failed, succeeded } from "./outcome.ts";

const shy = Object.defineProperty(new Error("x"), "message", {
  get: () => {
    throw new Error("do not look");
  },
});

test.each<[string, unknown, string, RegExp]>([
  ["an error", new RangeError("too far"), "RangeError", /^too far$/],
  ["an error with a code", Object.assign(new Error("no"), { code: "E_NO" }), "E_NO", /^no$/],
  ["a text", "no", "THROWN", /^no$/],
  ["nothing", null, "THROWN", /^null$/],
  ["an object without a prototype", Object.create(null), "THROWN", /cannot be shown/],
  ["an error whose message throws", shy, "THROWN", /cannot be shown/],
  [
    "an error whose name is a number",
    Object.assign(new Error("n"), { name: 5 }),
    "THROWN",
    /cannot be shown/,
  ],
])("whatever is thrown is an outcome: %s", (_, thrown, code, message) => {
  const outcome = failed(thrown);
  expect(outcome).toMatchObject({ kind: "failed", code });
  const { data } = outcome as { data: Uint8Array };
  expect((unpack(data) as { message: string }).message).toMatch(message);
});

test("a result that cannot be encoded, or is too large, is a failure that says so", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  expect(succeeded(circle)).toMatchObject({ kind: "failed", code: "RESULT_INVALID" });
  expect(succeeded("x".repeat(600_000))).toMatchObject({ kind: "failed", code: "RESULT_TOO_LARGE" });
});
