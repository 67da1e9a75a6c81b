import { expect, test } from "vitest";
import type { Entry } from "../store/contract.ts";
import { EraMachine } from "./era-machine.ts";
import { ALL_RULES } from "./rules.ts";
import type { EraRecord } from "./tenure.ts";

const record = (era: number, phase: EraRecord["phase"], incarnation = "one", revision = era): Entry => ({
  key: "era",
  revision,
  value: JSON.stringify({ v: 1, era, incarnation, phase, by: "a", ttlMsMax: 10_000 } satisfies EraRecord),
});

test("a store without a record gets a proposal above what this node remembers", () => {
  const machine = new EraMachine(ALL_RULES, 10_000, 7);
  machine.observe(undefined, "one", false, 0);
  expect(machine.tick(0)).toMatchObject({ kind: "propose", above: 7, revision: 0 });
  expect(machine.open).toBeUndefined();
});

test("an open record of this incarnation is open, and nothing is due", () => {
  const machine = new EraMachine(ALL_RULES, 10_000, 0);
  machine.observe(record(3, "open"), "one", false, 0);
  expect(machine.open).toEqual({ era: 3, revision: 3 });
  expect(machine.tick(0)).toBeUndefined();
  expect(machine.remembered).toBe(3);
});

test("a closed era opens only one maximum TTL after its record was seen", () => {
  const machine = new EraMachine(ALL_RULES, 10_000, 0);
  machine.observe(record(3, "closed"), "one", false, 100);
  expect(machine.open).toBeUndefined();
  expect(machine.current).toBe(3);
  expect(machine.tick(10_099)).toBeUndefined();
  expect(machine.wakeAt()).toBe(10_100);
  expect(machine.tick(10_100)).toMatchObject({ kind: "open", revision: 3 });
});

test("the wait is the longest TTL that anyone may have", () => {
  const machine = new EraMachine(ALL_RULES, 30_000, 0);
  machine.observe(record(3, "closed"), "one", false, 0);
  expect(machine.wakeAt()).toBe(30_000);
});

test("a record of another incarnation is closed with a higher number", () => {
  const machine = new EraMachine(ALL_RULES, 10_000, 0);
  machine.observe(record(3, "open"), "one", false, 0);
  machine.observe(record(3, "open"), "two", false, 50);
  expect(machine.open).toBeUndefined();
  expect(machine.tick(50)).toMatchObject({ kind: "propose", above: 3, revision: 3 });
});

test("a fallen store is closed although its incarnation is the same, until a record above what was known appears", () => {
  const machine = new EraMachine(ALL_RULES, 10_000, 0);
  machine.observe(record(3, "open"), "one", false, 0);
  machine.observe(record(3, "open"), "one", true, 50);
  expect(machine.tick(50)).toMatchObject({ kind: "propose", above: 3 });
  machine.observe(record(4, "closed", "one", 60), "one", false, 60);
  expect(machine.current).toBe(4);
});

test("a record below what this node remembers is closed with a higher number", () => {
  const machine = new EraMachine(ALL_RULES, 10_000, 9);
  machine.observe(record(5, "open"), "one", false, 0);
  expect(machine.tick(0)).toMatchObject({ kind: "propose", above: 9 });
});

test("what was sent is not sent again before its outcome or its time", () => {
  const machine = new EraMachine(ALL_RULES, 10_000, 0);
  machine.observe(undefined, "one", false, 0);
  machine.sent(500);
  expect(machine.tick(499)).toBeUndefined();
  expect(machine.tick(500)).toMatchObject({ kind: "propose" });
});

test("a node with a longer TTL raises the record before it opens sessions, and what was once seen is remembered", () => {
  const machine = new EraMachine(ALL_RULES, 30_000, 0);
  machine.observe(record(3, "open"), "one", false, 0);
  expect([machine.current, machine.open]).toEqual([undefined, undefined]);
  expect(machine.tick(0)).toMatchObject({ kind: "open", record: { era: 3, ttlMsMax: 30_000 }, revision: 3 });
  const other = new EraMachine(ALL_RULES, 2_000, 0);
  other.observe(record(3, "open"), "one", false, 0);
  expect([other.current, other.ttlMsMax]).toEqual([3, 10_000]);
});
