import { expect, test } from "vitest";
import { RunError, failureOf } from "./failure.ts";

test("keeps the line that a caret points into, and the caret below its place", () => {
  const message = "missing ), at character 2\n  a(b\n   ^";
  expect(failureOf(new RunError(message)).line).toBe(message);
});

test("tells everything else in one line", () => {
  expect(failureOf(new RunError("no:\n  this\n  and ^ that\n")).line).toBe("no: this and ^ that");
  expect(failureOf(new Error("boom\n  a\n  ^")).line).toBe("unexpected: boom a ^ (--debug shows where)");
});
