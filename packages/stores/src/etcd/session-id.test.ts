import { expect, test } from "vitest";
import { leaseOf, newSessionId } from "./session-id.ts";

test.each([0, 0.5, 1 - Number.EPSILON / 2])("a session drawn at %d is a lease that etcd can have", (draw) => {
  const session = newSessionId(() => draw);
  expect(session).toMatch(/^[0-7][0-9a-f]{15}$/);
  expect(leaseOf(session)).toBe(session);
});

test.each([
  ["12345", "0000000000012345"],
  ["7fffffffffffffff", "7fffffffffffffff"],
  ["8000000000000000", undefined],
  ["0", undefined],
  ["", undefined],
  ["s-12", undefined],
  ["00000000000000001", undefined],
])("session %j is lease %s", (session, lease) => {
  expect(leaseOf(session)).toBe(lease);
});
