import { expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import type { HeldSession } from "../membership/session-machine.ts";
import { Fence } from "../tenure/fence.ts";
import { Election } from "./election.ts";

const keys = new Keys("f");
function session(id: string, until = 1_000_000): HeldSession {
  const fence = new Fence(id);
  fence.extend(until);
  return { id, role: "liveness", era: 1, fence };
}
const era = { era: 1, revision: 4 };

test("stands for election after a jitter, creating the key if absent under the open era", () => {
  const election = new Election(keys, "a", () => 0.5);
  expect(election.tick(session("s"), era, 0, 0)).toBeUndefined();
  const commit = election.tick(session("s"), era, 0, 250);
  expect(commit?.guards).toEqual([
    { key: keys.manager, revision: 0 },
    { key: keys.era, revision: 4 },
  ]);
  expect(commit?.writes[0]).toMatchObject({ key: keys.manager, session: "s" });
  expect(election.tick(session("s"), era, 0, 251)).toBeUndefined();
});

test("manages only while the key bears its session and that session lets it", () => {
  const election = new Election(keys, "a", () => 0);
  election.observe({ value: { v: 1, node: "a", session: "s", era: 1, since: 0 }, revision: 9 });
  expect(election.elected(session("s", 100), 99)).toEqual({ key: keys.manager, revision: 9 });
  expect(election.elected(session("s", 100), 100)).toBeUndefined();
  expect(election.elected(session("other"), 0)).toBeUndefined();
  expect(election.tick(session("s"), era, 0, 10_000)).toBeUndefined();
});

test("resigns only from an office it holds", () => {
  const election = new Election(keys, "a", () => 0);
  expect(election.resign(session("s"))).toBeUndefined();
  election.observe({ value: { v: 1, node: "a", session: "s", era: 1, since: 0 }, revision: 9 });
  expect(election.resign(session("s"))?.guards).toEqual([{ key: keys.manager, revision: 9 }]);
  expect(election.resign(session("t"))).toBeUndefined();
});
