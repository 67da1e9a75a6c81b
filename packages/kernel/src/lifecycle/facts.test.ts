import { expect, test } from "vitest";
import type { Tenure } from "../tenure/tenure.ts";
import { Facts, type Known } from "./facts.ts";

const KEY = "s/1/0";

function held(node: string, revision: number): Known<Tenure> {
  const value: Tenure = {
    v: 1,
    node,
    boot: "boot",
    session: "session",
    era: 1,
    address: "",
    how: "grant",
    reason: "",
    since: 0,
  };
  return { value, revision };
}

test("with a source only what was asked about is kept, and it begins with what the store has", () => {
  let stored: Known<Tenure> | undefined = held("a", 5);
  const facts = new Facts({ tenure: () => stored });
  facts.setTenure(KEY, stored, false, 10);
  expect(facts.known(KEY)).toBeUndefined();
  expect(facts.replica(KEY, 20)).toMatchObject({ tenure: stored, since: 20 });
  stored = undefined;
  facts.setTenure(KEY, stored, true, 30);
  expect(facts.known(KEY)).toMatchObject({ tenure: undefined, since: 30, lostBy: "a", lostAfterMs: 10 });
});

test("a contender does not hide the tenure that the store has", () => {
  const facts = new Facts({ tenure: () => held("a", 5) });
  const value = { v: 1, phase: "ready", progress: 1, boot: "boot", session: "s", address: "" } as const;
  facts.setContender(KEY, "b", { value, revision: 6 }, 20);
  expect(facts.replica(KEY, 30)).toMatchObject({ tenure: held("a", 5), since: 20 });
});

test("where the store can be asked who contends, only what was asked about is kept, and it begins with them", () => {
  const value = { v: 1, phase: "ready", progress: 1, boot: "boot", session: "s", address: "" } as const;
  const stored = new Map([["b", { value, revision: 6 }]]);
  const facts = new Facts({ tenure: () => held("a", 5), contenders: () => stored });
  expect(facts.setContender(KEY, "b", stored.get("b"), 10)).toBe(false);
  expect(facts.known(KEY)).toBeUndefined();
  expect(facts.replica(KEY, 20).contenders).toEqual(stored);
  expect(facts.setContender(KEY, "b", undefined, 30)).toBe(true);
  expect(facts.replica(KEY, 40).contenders.size).toBe(0);
});

test("grants are noted per node whether or not anybody asked about the replica", () => {
  const facts = new Facts({ tenure: () => undefined });
  facts.setTenure(KEY, held("a", 5), false, 10);
  expect([facts.grantedAt("a"), facts.grantedAt("b")]).toEqual([10, -Infinity]);
});

test("without a source everything that is told is kept", () => {
  const facts = new Facts();
  facts.setTenure(KEY, held("a", 5), false, 10);
  expect(facts.known(KEY)?.tenure).toEqual(held("a", 5));
});
