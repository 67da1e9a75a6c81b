import { expect, test } from "vitest";
import { ALL_RULES, type Rules } from "../tenure/rules.ts";
import { terms } from "../tenure/terms.ts";
import { SessionMachine } from "./session-machine.ts";

function opened(rules: Rules = ALL_RULES): SessionMachine {
  const machine = new SessionMachine(terms({ ttlMs: 10_000 }), rules);
  machine.setEra(1);
  expect(machine.tick(0).map((a) => a.kind)).toEqual(["open", "open"]);
  machine.opened("liveness", "L1", 1, 10_000, 0, 5);
  machine.opened("membership", "M1", 1, 10_000, 0, 5);
  return machine;
}

test("opens nothing before an era is known", () => {
  const machine = new SessionMachine(terms(), ALL_RULES);
  expect(machine.tick(0)).toEqual([]);
});

test("renews both sessions in one call, every fifth of the TTL", () => {
  const machine = opened();
  expect(machine.tick(1_999)).toEqual([]);
  expect(machine.tick(2_000)).toEqual([{ kind: "renew", sessions: ["L1", "M1"] }]);
  expect(machine.tick(2_001)).toEqual([]);
  machine.renewed(["L1", "M1"], [], 2_000, 2_010, true);
  expect(machine.wakeAt()).toBe(4_000);
});

test("machines of one process that were begun at different moments renew at the same ones", () => {
  const renewals = [0, 17, 42, 99].map((sentAt) => {
    const machine = new SessionMachine(terms({ ttlMs: 10_000 }), ALL_RULES);
    machine.setEra(1);
    machine.tick(sentAt);
    machine.opened("liveness", "L1", 1, 10_000, sentAt, sentAt + 5);
    const first = machine.wakeAt();
    machine.renewed(["L1"], [], first + 3, first + 8, true);
    return [first, machine.wakeAt()];
  });
  expect(renewals).toEqual(Array.from({ length: 4 }, () => [2_000, 4_000]));
});

test("the deadline counts from when the renewal was sent, 0.9 TTL less the margin", () => {
  const machine = opened();
  expect(machine.liveness?.fence.deadline).toBe(8_950);
  machine.tick(2_000);
  machine.renewed(["L1", "M1"], [], 2_000, 3_900, true);
  expect(machine.liveness?.fence.deadline).toBe(10_950);
  expect(machine.liveness?.fence.passes(10_949)).toBe(true);
  expect(machine.liveness?.fence.passes(10_950)).toBe(false);
});

test("a renewal that does not count moves no deadline and loses no session", () => {
  const machine = opened();
  machine.tick(2_000);
  expect(machine.renewed([], ["L1", "M1"], 2_000, 2_010, false)).toEqual([]);
  expect(machine.liveness?.id).toBe("L1");
  expect(machine.liveness?.fence.deadline).toBe(8_950);
});

test("a failed renewal is tried again sooner", () => {
  const machine = opened();
  machine.tick(2_000);
  machine.renewFailed(4_000);
  expect(machine.wakeAt()).toBe(4_500);
});

test("a lost liveness session ends its fence, and the next one has a new id and a fence of its own", () => {
  const machine = opened();
  const former = machine.liveness!.fence;
  machine.tick(2_000);
  expect(machine.renewed(["M1"], ["L1"], 2_000, 2_010, true).map((s) => s.id)).toEqual(["L1"]);
  expect(former.passes(2_011)).toBe(false);
  expect(machine.tick(2_011)).toEqual([{ kind: "open", role: "liveness", era: 1 }]);
  machine.opened("liveness", "L2", 1, 10_000, 2_011, 2_020);
  expect(former.passes(2_021)).toBe(false);
  expect(machine.liveness?.fence.passes(2_021)).toBe(true);
});

test("a new era revokes the sessions of the old one and stops them at once", () => {
  const machine = opened();
  const former = machine.liveness!.fence;
  expect(machine.setEra(2)).toEqual([
    { kind: "revoke", session: "L1" },
    { kind: "revoke", session: "M1" },
  ]);
  expect(former.passes(100)).toBe(false);
  expect(machine.tick(100).map((a) => a.kind)).toEqual(["open", "open"]);
});

test("a session that was opened for an era that has passed is revoked, not used", () => {
  const machine = new SessionMachine(terms(), ALL_RULES);
  machine.setEra(1);
  machine.tick(0);
  machine.setEra(2);
  expect(machine.opened("liveness", "L1", 1, 10_000, 0, 5)).toEqual([{ kind: "revoke", session: "L1" }]);
  expect(machine.liveness).toBeUndefined();
});

test("leaving drops membership and keeps liveness; a membership session obtained later is revoked", () => {
  const machine = opened();
  expect(machine.leave()).toEqual([{ kind: "revoke", session: "M1" }]);
  expect(machine.liveness?.id).toBe("L1");
  expect(machine.opened("membership", "M2", 1, 10_000, 10, 20)).toEqual([{ kind: "revoke", session: "M2" }]);
  expect(machine.tick(100)).toEqual([]);
});

test("a shorter TTL than asked for shortens the deadline", () => {
  const machine = new SessionMachine(terms({ ttlMs: 10_000 }), ALL_RULES);
  machine.setEra(1);
  machine.tick(0);
  machine.opened("liveness", "L1", 1, 4_000, 0, 5);
  expect(machine.liveness?.fence.deadline).toBe(3_550);
});
