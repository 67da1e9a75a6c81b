import { describe, expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import type { ServiceDeclaration } from "./declaration.ts";
import type { Member } from "./member.ts";
import type { MemberEntry, ViewEntry } from "./view-change.ts";
import { ViewMachine, type ViewDecision } from "./view-machine.ts";
import type { View } from "./view.ts";

const keys = new Keys("test");
const parameters = { shards: 4, replicas: 1, placement: {} };
const terms = { viewStepMs: 100, joinBrieflyMs: 500, gatherMs: 100 };

function entry(node: string, given: Partial<Member> = {}, revision = 1): MemberEntry {
  const member: Member = {
    v: 1,
    node,
    boot: `boot-of-${node}`,
    address: `${node}:1`,
    zone: "z",
    labels: {},
    capabilities: [],
    version: "1.0.0",
    protocol: { min: 1, max: 1 },
    capacity: 1,
    startedAt: 0,
    services: ["jobs"],
    liveness: "l",
    membership: "m",
    ...given,
  };
  return { member, revision };
}

const view = (nodes: readonly string[], given: Partial<View> = {}): ViewEntry => ({
  view: {
    v: 1,
    n: 3,
    members: nodes.map((node) => ({ node, zone: "z", weight: 1 })),
    parameters,
    algorithm: "ring/1",
    reason: "test",
    ...given,
  },
  revision: 50,
});

function machine(
  given: Partial<ServiceDeclaration> & { node?: string; viewGuard?: boolean } = {},
): ViewMachine {
  const { node = "a", viewGuard = true, ...rest } = given;
  const declaration: ServiceDeclaration = {
    service: "jobs",
    parameters,
    algorithm: "ring/1",
    stabilisationMs: 1_000,
    stabilisationMaxMs: 3_000,
    ...rest,
  };
  return new ViewMachine({ node, keys, terms, rules: { viewGuard }, declaration });
}

/** Asks again whenever told to wake, until there is a proposal; gives the time it came at. */
function settle(
  asked: ViewMachine,
  facts: { current: ViewEntry | undefined; members: MemberEntry[]; unheld?: boolean },
  from: number,
): { at: number; decision: ViewDecision } {
  let at = from;
  for (;;) {
    const decision = asked.decide({ unheld: false, ...facts }, at);
    if (decision.proposal || decision.wakeAt === undefined) return { at, decision };
    expect(decision.wakeAt).toBeGreaterThan(at);
    at = decision.wakeAt;
  }
}

const nodesOf = (decision: ViewDecision): string[] | undefined =>
  decision.proposal?.view.members.map((member) => member.node);

describe("ViewMachine", () => {
  test("has nothing to say when the view fits", () => {
    expect(machine().decide({ current: view(["a"]), members: [entry("a")], unheld: true }, 0)).toEqual({});
    expect(machine().decide({ current: undefined, members: [], unheld: false }, 0)).toEqual({});
  });

  test("takes all present members into the first view, once no other has joined for a moment", () => {
    const members = [
      entry("a", {}, 7),
      entry("b", { zone: "y", capacity: 2 }, 8),
      entry("c", { services: [] }),
    ];
    const { at, decision } = settle(machine(), { current: undefined, members }, 40);
    expect(at).toBeGreaterThanOrEqual(140);
    expect(at).toBeLessThanOrEqual(240);
    expect(decision.proposal).toEqual({
      view: {
        v: 1,
        n: 1,
        members: [
          { node: "a", zone: "z", weight: 1 },
          { node: "b", zone: "y", weight: 2 },
        ],
        parameters,
        algorithm: "ring/1",
        reason: "first view; a, b joined",
      },
      guards: [
        { key: keys.view("jobs"), revision: 0 },
        { key: keys.member("a"), revision: 7 },
        { key: keys.member("b"), revision: 8 },
      ],
      reason: "first view; a, b joined",
    });
  });

  test("removes a lost member at once, guarded on the view and on the absence of its key", () => {
    const { at, decision } = settle(machine(), { current: view(["a", "gone"]), members: [entry("a")] }, 10);
    expect(at).toBe(10);
    expect(nodesOf(decision)).toEqual(["a"]);
    expect(decision.proposal?.view.n).toBe(4);
    expect(decision.proposal?.reason).toBe("gone left or was lost");
    expect(decision.proposal?.guards).toEqual([
      { key: keys.view("jobs"), revision: 50 },
      { key: keys.member("gone"), revision: 0 },
    ]);
  });

  test("guards on the key of a member that stays in the fleet without the service", () => {
    const members = [entry("a"), entry("b", { services: ["logs"] }, 61)];
    const { decision } = settle(machine(), { current: view(["a", "b"]), members }, 0);
    expect(nodesOf(decision)).toEqual(["a"]);
    expect(decision.proposal?.guards).toContainEqual({ key: keys.member("b"), revision: 61 });
  });

  test("guards only on the view when the rule is broken", () => {
    const facts = { current: view(["a", "gone"]), members: [entry("a"), entry("c")] };
    const { decision } = settle(machine({ viewGuard: false, stabilisationMs: 0 }), facts, 0);
    expect(nodesOf(decision)).toEqual(["a", "c"]);
    expect(decision.proposal?.guards).toEqual([{ key: keys.view("jobs"), revision: 50 }]);
  });

  test("takes joins in together, when they have been quiet for the window", () => {
    const asked = machine();
    const current = view(["a"]);
    const facts = (...nodes: string[]) => ({
      current,
      members: nodes.map((node) => entry(node)),
      unheld: false,
    });
    expect(asked.decide(facts("a", "b"), 0).proposal).toBeUndefined();
    expect(asked.decide(facts("a", "b", "c"), 900).proposal).toBeUndefined();
    expect(asked.decide(facts("a", "b", "c"), 1_899).proposal).toBeUndefined();
    const { at, decision } = settle(asked, facts("a", "b", "c"), 1_899);
    expect(at).toBeLessThanOrEqual(1_900 + 2 * terms.viewStepMs);
    expect(nodesOf(decision)).toEqual(["a", "b", "c"]);
  });

  test("makes no join wait longer than the window's maximum, however restless the others are", () => {
    const asked = machine();
    const current = view(["a"]);
    let at = 0;
    for (; at < 10_000; at += 500) {
      const flapping = entry("x", { boot: `boot-${at}` });
      const decision = asked.decide(
        { current, members: [entry("a"), entry("b"), flapping], unheld: false },
        at,
      );
      if (decision.proposal) break;
    }
    expect(at).toBe(3_500);
  });

  test("forgets a join that was taken back: coming again, it waits its window again", () => {
    const asked = machine();
    const current = view(["a"]);
    const joined = { current, members: [entry("a"), entry("b")], unheld: false };
    asked.decide(joined, 0);
    expect(asked.decide({ ...joined, members: [entry("a")] }, 500)).toEqual({});
    expect(asked.decide(joined, 1_200).proposal).toBeUndefined();
    expect(settle(asked, joined, 1_201).at).toBeGreaterThanOrEqual(2_200);
  });

  test("takes joins in after a brief wait while a replica is unheld", () => {
    const facts = { current: view(["a"]), members: [entry("a"), entry("b")], unheld: true };
    const { at } = settle(machine({ stabilisationMs: 30_000, stabilisationMaxMs: 90_000 }), facts, 0);
    expect(at).toBeGreaterThanOrEqual(500);
    expect(at).toBeLessThanOrEqual(600);
  });

  test("takes joins in almost at once, and in one view, when no member of the view is left", () => {
    const facts = { current: view(["gone", "lost"]), members: [entry("a")], unheld: true };
    const { at, decision } = settle(machine(), facts, 0);
    expect([at, nodesOf(decision)]).toEqual([100, ["a"]]);
  });

  test("does not drag joins along with a loss before their window is over", () => {
    const asked = machine();
    const facts = { current: view(["a", "gone"]), members: [entry("a"), entry("new")] };
    expect(nodesOf(settle(asked, facts, 0).decision)).toEqual(["a"]);
  });

  test("makes a new view of a changed weight or zone, guarded on the member's key", () => {
    const members = [entry("a", { capacity: 0 }, 77), entry("b", { zone: "y" }, 78)];
    const { decision } = settle(machine(), { current: view(["a", "b"]), members }, 0);
    expect(decision.proposal?.view.members).toEqual([
      { node: "a", zone: "z", weight: 0 },
      { node: "b", zone: "y", weight: 1 },
    ]);
    expect(decision.proposal?.guards.slice(1).map((guard) => guard.revision)).toEqual([77, 78]);
  });

  test("gives a capacity that is not a number no weight", () => {
    const facts = { current: undefined, members: [entry("a", { capacity: Number.NaN })] };
    expect(settle(machine(), facts, 0).decision.proposal?.view.members[0]?.weight).toBe(0);
  });

  test("lets every present member propose, one step after another", () => {
    const names = ["a", "b", "c", "d"];
    const facts = { current: view([...names, "gone"]), members: names.map((node) => entry(node)) };
    const turns = names.map((node) => settle(machine({ node }), facts, 0).at);
    expect(turns.toSorted((x, y) => x - y)).toEqual([0, 100, 200, 300]);
    const later = { ...facts, current: view([...names, "gone"], { n: 9 }) };
    expect(names.map((node) => settle(machine({ node }), later, 0).at)).not.toEqual(turns);
  });

  test("lets a node that is no member propose last", () => {
    const facts = { current: view(["b", "c", "leaving"]), members: [entry("b"), entry("c")] };
    expect(settle(machine({ node: "leaving" }), facts, 0).at).toBe(200);
  });

  test("repeats a proposal after one step, not before", () => {
    const asked = machine();
    const facts = { current: view(["a", "gone"]), members: [entry("a")], unheld: false };
    expect(asked.decide(facts, 0).proposal).toBeDefined();
    expect(asked.decide(facts, 1)).toEqual({ wakeAt: 100 });
    expect(asked.decide(facts, 100).proposal).toBeDefined();
  });

  test("counts turns from the moment it knows a view, so that a stale due time does not make all propose at once", () => {
    const names = ["a", "b", "c", "d"];
    const members = [...names, "new"].map((node) => entry(node));
    const first = names.map((node) => machine({ node }));
    for (const each of first) each.decide({ current: view(names), members, unheld: false }, 0);
    const next = { current: { ...view(names, { n: 4 }), revision: 60 }, members };
    const turns = first.map((each) => settle(each, next, 5_000).at);
    expect(new Set(turns).size).toBe(4);
  });

  test("puts at most 90 changes into one view, losses first, and the rest into the next", () => {
    const gone = Array.from({ length: 60 }, (_, i) => `gone-${i}`);
    const fresh = Array.from({ length: 60 }, (_, i) => entry(`new-${i}`));
    const asked = machine({ stabilisationMs: 0 });
    const facts = { current: view(["a", ...gone].sort()), members: [entry("a"), ...fresh] };
    const { decision } = settle(asked, facts, 0);
    expect(decision.proposal?.guards).toHaveLength(91);
    expect(decision.proposal?.view.members).toHaveLength(31);
    expect(decision.proposal?.reason).toMatch(
      /^gone-0, .* and 52 more left or was lost; new-0, .* and 22 more joined$/,
    );
    const current = { view: decision.proposal!.view, revision: 51 };
    expect(settle(asked, { ...facts, current }, 10_000).decision.proposal?.view.members).toHaveLength(61);
  });

  test("keeps fields of the view that this version does not know", () => {
    const current = view(["a", "b", "gone"]);
    const members = [{ node: "a", zone: "z", weight: 1, rack: 7 }, ...current.view.members.slice(1)];
    const odd = { ...current, view: { ...current.view, members, colour: "blue" } };
    const made = settle(machine(), { current: odd, members: [entry("a", { capacity: 2 }), entry("b")] }, 0);
    expect(made.decision.proposal?.view).toMatchObject({
      colour: "blue",
      members: [{ rack: 7, weight: 2 }, {}],
    });
  });
});

describe("ViewMachine, when the declaration differs from the view", () => {
  const facts = (given: Partial<View>) => ({ current: view(["a"], given), members: [entry("a")] });

  test("adopts parameters and algorithm of a declaration with a higher revision", () => {
    const asked = machine({ parameters: { ...parameters, shards: 8, revision: 2 }, algorithm: "ring/2" });
    const { decision } = settle(asked, facts({ parameters: { ...parameters, revision: 1 } }), 0);
    expect(decision.proposal?.view).toMatchObject({
      n: 4,
      algorithm: "ring/2",
      parameters: { shards: 8, revision: 2 },
    });
    expect(decision.proposal?.reason).toBe("parameters revision 1 → 2");
    expect(decision.mismatch).toBeUndefined();
  });

  test("lives with the view's parameters when its own revision is lower, and says so", () => {
    const newer = { ...parameters, shards: 8, revision: 1 };
    const decision = machine().decide({ ...facts({ parameters: newer }), unheld: false }, 0);
    expect(decision.proposal).toBeUndefined();
    expect(decision.mismatch).toBe(
      'the view of "jobs" has parameters revision 1, this node declares revision 0: upgrade this node',
    );
    const { decision: after } = settle(
      machine(),
      { current: view(["a", "gone"], { parameters: newer }), members: [entry("a")] },
      0,
    );
    expect(after.proposal?.view.parameters).toEqual(newer);
  });

  test("reports equal revisions with different contents, and changes nothing", () => {
    for (const given of [{ parameters: { ...parameters, replicas: 2 } }, { algorithm: "balanced/1" }]) {
      const decision = machine().decide({ ...facts(given), unheld: false }, 0);
      expect(decision.mismatch).toMatch(/both with revision 0: the view's are used; raise the revision/);
      expect(decision.proposal).toBeUndefined();
    }
  });

  test("does not mind the order of options, nor a revision of 0 left out", () => {
    const asked = machine({ parameters: { ...parameters, placement: { vnodes: 9, loadFactor: 2 } } });
    const other = { placement: { loadFactor: 2, vnodes: 9 }, replicas: 1, shards: 4, revision: 0 };
    expect(asked.decide({ ...facts({ parameters: other }), unheld: false }, 0)).toEqual({});
  });
});
