import { expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import type { Entry } from "../store/contract.ts";
import { protocolController, type ProtocolRecord } from "./protocol-controller.ts";

const keys = new Keys("f");

function reconcile(record: ProtocolRecord, ...members: { min: number; max: number }[]): unknown {
  const entries: Entry[] = [
    { key: keys.protocol, value: JSON.stringify(record), revision: 3 },
    ...members.map((protocol, i) => ({
      key: keys.member(`n${i}`),
      value: JSON.stringify({ protocol }),
      revision: 5,
    })),
  ];
  const proposals = protocolController.reconcile({
    keys,
    now: 0,
    get: (key) => entries.find((e) => e.key === key),
    entries: () => entries,
  });
  const write = proposals[0]?.commit.writes[0];
  return write?.kind === "put" ? JSON.parse(write.value) : undefined;
}

test("a version that all members speak is announced before it becomes active", () => {
  expect(reconcile({ v: 1, active: 1 }, { min: 1, max: 2 }, { min: 1, max: 3 })).toEqual({
    v: 1,
    active: 1,
    next: 2,
  });
  expect(reconcile({ v: 1, active: 1, next: 2 }, { min: 1, max: 2 }, { min: 1, max: 3 })).toEqual({
    v: 1,
    active: 2,
  });
});

test("one old member holds the fleet back, and withdraws an announcement it slipped past", () => {
  expect(reconcile({ v: 1, active: 1 }, { min: 1, max: 2 }, { min: 1, max: 1 })).toBeUndefined();
  expect(reconcile({ v: 1, active: 1, next: 2 }, { min: 1, max: 2 }, { min: 1, max: 1 })).toEqual({
    v: 1,
    active: 1,
  });
});

test("nothing is proposed when nothing is amiss", () => {
  expect(reconcile({ v: 1, active: 2 }, { min: 1, max: 2 })).toBeUndefined();
});
