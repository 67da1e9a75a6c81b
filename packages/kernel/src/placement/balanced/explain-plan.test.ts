import { describe, expect, test } from "vitest";
import type { View } from "../../membership/view.ts";
import { ring } from "../ring.ts";
import { dryRunText, replicaText, shadowText } from "./explain-text.ts";
import { dryRun, explainReplica, shadow } from "./explain-plan.ts";
import { member, memberList, Scene } from "./fixtures/scene.ts";
import { chunkChanges } from "./plan-store.ts";
import { storedPlan } from "./stored-plan.ts";

/** Twelve equal shards on three nodes; then one node drains and a heavy shard appears. */
function troubled(): Scene {
  const scene = new Scene({
    members: memberList(3, 3),
    loads: Array.from({ length: 12 }, () => 1),
    limits: { nodeMovesMax: 2 },
  });
  scene.settle();
  scene.members = [
    ...scene.members.map((one) => (one.node === "n2" ? { ...one, draining: true } : one)),
    member("n3", { zone: "z0" }),
  ];
  scene.loads[scene.placed.indexOf("n0")] = 40;
  return scene;
}

describe("a dry run", () => {
  test("says what would move, why, what it costs, what waits and what was refused", () => {
    const scene = troubled();
    const before = [...scene.placed];
    const run = dryRun(scene.input({ costs: scene.loads.map(() => 2.5) }));
    expect(scene.placed).toEqual(before);
    expect(run.totals.find(({ why }) => why === "draining")).toEqual({
      why: "draining",
      moves: 2,
      cost: 5,
      waiting: 2,
    });
    expect(run.refusals.map(({ kind }) => kind)).toContain("heavy");
    expect(run.nodes.map(({ node }) => node)).toEqual(["n0", "n1", "n2", "n3"]);
    const n3 = run.nodes[3]!;
    expect(n3.before).toEqual({ replicas: 0, utilisation: [0] });
    expect(n3.after.replicas).toBe(run.targets.filter((node) => node === "n3").length);
  });

  test("reads well", () => {
    expect(dryRunText(dryRun(troubled().input()), 2)).toMatchInlineSnapshot(`
      "plan for view 2: 3 moves, 4 waiting, 3 refused
        draining: 2 moves at a cost of 2, 2 waiting
        peak: 1 move at a cost of 1, 2 waiting
      moves
        2/0: n2 → n3, cost 1; n2 is draining or has no capacity; n3 stood at 0.00 × average
        5/0: n2 → n3, cost 1; n2 is draining or has no capacity; n3 stood at 0.00 × average
        … and 1 more
      waiting
        3/0: n0 → n3, cost 1; n0 stood at 7.82 × average, its ceiling is 1.04 × average; n3 stood at 0.00 × average; waits for the 2 moves at a time of n3
        6/0: n0 → n3, cost 1; n0 stood at 7.82 × average, its ceiling is 1.04 × average; n3 stood at 0.00 × average; waits for the 2 moves at a time of n3
        … and 2 more
      refused
        infeasible, because shard 0 alone is heavier than the band allows: 7.27 × average of load on the largest node, the ceiling is 1.04 × average; split it or add replicas
        n0 stays at 7.27 × average, its ceiling is 1.04 × average: nothing that may leave it would make the fleet more even
        … and 1 more
      nodes: replicas, and utilisation as a multiple of the average, before → after
        n0 (z0): 4 → 3, load 2.53 → 2.47
        n1 (z1): 4 → 5, load 0.24 → 0.29
        n2 (z2, draining): 4 → 2, load 0.24 → 0.12
        n3 (z0): 0 → 2, load 0.00 → 0.12
      "
    `);
  });
});

describe("a shadow plan", () => {
  const view: View = {
    v: 1,
    n: 4,
    members: memberList(3).map(({ node, zone }) => ({ node, zone, weight: 1 })),
    parameters: { shards: 12, replicas: 1, placement: {} },
    algorithm: "ring/1",
    reason: "test",
  };

  test("reports how a stored plan would differ from the ring that is active", () => {
    const scene = new Scene({ members: memberList(3), loads: Array.from({ length: 12 }, () => 1) });
    const { put } = chunkChanges(scene.round(), scene, []);
    const active = ring({ service: "s" }).plan(view);
    const difference = shadow(active, storedPlan({ service: "s", view, chunks: put }));
    const differing = scene.placed.filter(
      (node, i) => active.lines.get(`s/${i}/0`)?.candidates[0] !== node,
    ).length;
    expect(difference.moves).toHaveLength(differing);
    expect(difference.nodes.reduce((sum, { gets }) => sum + gets, 0)).toBe(differing);
    expect(shadowText(difference, 1)).toMatch(
      new RegExp(
        `^the other plan would move ${differing} of 12 replicas \\(\\d+\\.\\d %\\)\nmoves\n {2}s/\\d+/0: n\\d → n\\d\n {2}… and ${differing - 1} more\nnodes\n`,
      ),
    );
  });

  test("says when two plans agree", () => {
    const active = ring({ service: "s" }).plan(view);
    expect(shadowText(shadow(active, active))).toBe("the two plans agree on all 12 replicas\n");
  });
});

describe("why a replica is where it is", () => {
  test("names its reason and what speaks against each other node", () => {
    const scene = new Scene({
      members: [
        member("a", { zone: "x" }),
        member("b", { zone: "y" }),
        member("c", { zone: "y" }),
        member("d", { zone: "z", draining: true }),
        member("e", { zone: "z" }),
      ],
      loads: Array.from({ length: 40 }, () => 1),
      replicas: 2,
    });
    scene.settle();
    const input = scene.input();
    const proposal = scene.round();
    const index = scene.placed.indexOf("a");
    const [shard, replica] = [Math.floor(index / 2), index % 2];
    // y has half of all nodes that are not draining, so every shard has a replica there.
    const sibling = scene.placed[index ^ 1]!;
    const beside = sibling === "b" ? "c" : "b";
    const text = replicaText(explainReplica(input, proposal, String(shard), replica)!);
    expect(text).toContain(
      `shard ${shard}, replica ${replica}: a\n  it stays where it is: nothing asks for a move\n`,
    );
    expect(text).toContain(`not ${sibling}: has another replica of the shard\n`);
    expect(text).toContain(`not ${beside}: its zone y has another replica of the shard\n`);
    expect(text).toContain("not d: is draining or has no capacity\n");
    expect(text).toMatch(/not e: would stand at 1.\d\d × average; a stands at \d.\d\d × average with it\n/);
  });

  test("has no answer for a replica that is not there", () => {
    const scene = new Scene({ members: memberList(1), loads: [1] });
    expect(explainReplica(scene.input(), scene.round(), "0", 1)).toBeUndefined();
    expect(explainReplica(scene.input(), scene.round(), "1", 0)).toBeUndefined();
  });
});
