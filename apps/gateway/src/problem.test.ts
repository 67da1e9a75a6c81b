import { counterPlugin } from "@keelson/examples";
import { RouterError } from "@keelson/runtime";
import { expect, test } from "vitest";
import { problemOf } from "./problem.ts";

const routed = (code: string, text: string, unknown = false): RouterError =>
  new RouterError({ service: "counter", shard: "1" }, { code, text, unknown }, 1);

test("a service's declared code reaches the caller with its own text and status", () => {
  const problem = problemOf(routed("BAD_REQUEST", "not a whole number"), counterPlugin);
  expect(problem).toMatchObject({ code: "BAD_REQUEST", status: 400, message: "not a whole number" });
});

test("a code that nobody declared, and a bug, are withheld", () => {
  for (const error of [
    routed("ENOENT", "/secret/path"),
    routed("INTERNAL", "/secret/path"),
    new Error("/secret/path"),
  ]) {
    const problem = problemOf(error, counterPlugin);
    expect(problem).toMatchObject({ code: "INTERNAL", status: 500, cause: error });
    expect(problem.message).not.toContain("secret");
  }
});

test("the router's codes have their statuses, and say when a write may have been carried out", () => {
  expect(problemOf(routed("NO_HOLDER", "x"), undefined)).toMatchObject({
    status: 503,
    headers: { "retry-after": "1" },
  });
  expect(problemOf(routed("TIMEOUT", "x", true), undefined)).toMatchObject({
    status: 504,
    details: { unknown: true },
  });
  expect(problemOf(routed("OVERLOADED", "x"), undefined)).toMatchObject({
    status: 429,
    details: { reason: "node" },
  });
});
