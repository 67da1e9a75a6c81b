import { beforeEach, expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import { ALL_RULES } from "../tenure/rules.ts";
import { firstPatienceMs, firstStepMs } from "./granting.ts";
import { session, t } from "./fixtures/host-bench.ts";
import { HostMachine } from "./host-machine.ts";

const STEP_MS = firstStepMs(t);
const SHARDS = ["s/0/0", "s/1/0", "s/2/0"];

let machine: HostMachine;
let now: number;

/** The machine of node "a", which comes second for every shard. */
beforeEach(() => {
  now = 1_000;
  machine = new HostMachine({
    self: { node: "a", boot: "boot-a", address: "a:1" },
    keys: new Keys("f"),
    terms: t,
    rules: ALL_RULES,
    random: () => 0.5,
    wall: () => 0,
    services: new Map([["s", { builds: false, primary: false }]]),
  });
  machine.setEra({ era: 1, revision: 3 });
  machine.setSession(session("sa"));
  const lines = new Map(SHARDS.map((key) => [key, { candidates: ["b", "a"], reason: "because" }]));
  machine.setPlan("s", { viewN: 1, parameters: { shards: 3, replicas: 1, placement: {} }, lines }, now);
});

/** What is granted to this node after so long. */
function grants(later: number): string[] {
  now += later;
  return machine
    .step(now)
    .flatMap((action) => (action.kind === "commit" && action.purpose === "grant" ? [action.replica] : []));
}

const looked = (): number => [...machine.locals()].length;

test("a lower rank looks at nothing while the one before it is granted one replica after the other", () => {
  for (let n = 0; n < 5; n++) {
    machine.facts.setGranted("b", now + STEP_MS / 2);
    expect(grants(STEP_MS)).toEqual([]);
    expect(looked()).toBe(0);
  }
  expect(machine.wakeAt()).toBe(now + STEP_MS);
});

test("it takes what is left when the one before it is granted nothing any more", () => {
  machine.facts.setGranted("b", now + STEP_MS / 2);
  expect(grants(STEP_MS)).toEqual([]);
  expect(grants(STEP_MS)).toEqual(SHARDS);
});

test("nor does it wait for ever for one that is granted other things all the time", () => {
  const found: string[] = [];
  let waitedMs = 0;
  for (; found.length === 0 && waitedMs < 3 * firstPatienceMs(t); waitedMs += STEP_MS) {
    machine.facts.setGranted("b", now + STEP_MS / 2);
    found.push(...grants(STEP_MS));
  }
  expect(found.toSorted()).toEqual(SHARDS);
  expect(waitedMs).toBeLessThanOrEqual(firstPatienceMs(t) + 2 * STEP_MS);
});

test("a session that comes anew makes it look at nothing before its time", () => {
  machine.setSession(undefined);
  expect(grants(10)).toEqual([]);
  machine.setSession(session("sb"));
  expect(grants(10)).toEqual([]);
  expect(looked()).toBe(0);
  expect(grants(STEP_MS)).toEqual(SHARDS);
});
