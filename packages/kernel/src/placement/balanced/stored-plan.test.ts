import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { View } from "../../membership/view.ts";
import { STORE_LIMITS } from "../../store/contract.ts";
import { chanceOf, memberList, Scene } from "./fixtures/scene.ts";
import { decodePlanChunk, encodePlanChunk, type PlanChunk } from "./plan-chunk.ts";
import { chunkChanges, storedTargets } from "./plan-store.ts";
import { storedPlan, StoredPlans } from "./stored-plan.ts";
import { utf8Bytes } from "./utf8.ts";

const sample = (name: string): string =>
  readFileSync(new URL(`../../../testdata/${name}.json`, import.meta.url), "utf8").trimEnd();

const numbered: PlanChunk = {
  chunk: 1,
  viewN: 12,
  replicas: 2,
  shards: ["256", "257"],
  lines: [
    { to: "node-a", from: undefined, why: "new", viewN: 3 },
    { to: "node-c", from: "node-b", why: "peak", viewN: 12 },
    { to: "node-b", from: undefined, why: "lost", viewN: 9 },
    { to: undefined, from: undefined, why: "stays", viewN: 12 },
  ],
};
const named: PlanChunk = {
  chunk: 0,
  viewN: 5,
  replicas: 1,
  shards: ["github.com/a/b", "日本"],
  lines: [
    { to: "x", from: "y", why: "draining", viewN: 5 },
    { to: "y", from: undefined, why: "pinned", viewN: 4 },
  ],
  unknown: { later: { than: "this version" } },
};

function decoded(value: string): PlanChunk {
  const chunk = decodePlanChunk(value);
  if ("problem" in chunk) throw new Error(chunk.problem);
  return chunk;
}

describe("a chunk of the stored plan", () => {
  test.each([
    ["plan-chunk-numbered", numbered],
    ["plan-chunk-named", named],
  ])("is written and read as it was when version 1 was released: %s", (name, chunk) => {
    expect(encodePlanChunk(chunk)).toBe(sample(name));
    expect(decoded(sample(name))).toEqual(chunk);
  });

  test("keeps fields of later versions, and the targets of reasons it does not know", () => {
    const value = sample("plan-chunk-named").replace('"why":"dp"', '"why":"d?"');
    expect(decoded(value).lines[1]).toMatchObject({ to: "y", why: "stays" });
    expect(encodePlanChunk(decoded(value))).toContain('"later":{"than":"this version"}');
  });

  test.each([
    ["{", "a chunk of the plan is not JSON"],
    ["7", "a chunk of the plan is not an object"],
    [
      sample("plan-chunk-named").replace('"v":1', '"v":2'),
      "a chunk of the plan has version 2, and this node knows 1",
    ],
    [sample("plan-chunk-named").replace('"to":[0,1]', '"to":[0,9]'), "a chunk of the plan is damaged"],
    [sample("plan-chunk-named").replace('"to":[0,1]', '"to":[0]'), "a chunk of the plan is damaged"],
  ])("that makes no sense is a problem in words: %s", (value, problem) => {
    expect(decodePlanChunk(value)).toEqual({ problem });
  });

  test("fits a value, on a thousand nodes with the longest names; where replicas came from is left out when it must be", () => {
    const name = (i: number): string => `ip-10-0-${i}.eu-central-1.compute.internal.example`.padEnd(63, "x");
    const chance = chanceOf(1);
    const random = (): string => name(Math.floor(chance() * 1000));
    const shards = Array.from({ length: 256 }, (_, i) => String(i));
    const chunk = (replicas: number): PlanChunk => ({
      chunk: 0,
      viewN: 1_000_000,
      replicas,
      shards,
      lines: Array.from({ length: 256 * replicas }, () => ({
        to: random(),
        from: random(),
        why: "peak",
        viewN: 999_999,
      })),
    });
    for (const [replicas, history] of [
      [3, true],
      [4, false],
    ] as const) {
      const value = encodePlanChunk(chunk(replicas));
      expect(utf8Bytes(value)).toBeLessThanOrEqual(STORE_LIMITS.valueBytesMax);
      expect(decoded(value).lines.every(({ to }) => to !== undefined)).toBe(true);
      expect(decoded(value).lines.some(({ from }) => from !== undefined)).toBe(history);
    }
    expect(() => encodePlanChunk(chunk(9))).toThrow("use shorter shard ids or node names, or fewer replicas");
  });

  test("counts bytes as UTF-8 does", () => {
    for (const text of ["plain", "é", "日本", "🚢 a"]) expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
  });
});

/** A scene of 600 shards, its plan stored, and a view of its members. */
function stored(): { scene: Scene; chunks: PlanChunk[]; view: View } {
  const scene = new Scene({
    members: memberList(9, 3),
    loads: Array.from({ length: 600 }, () => 1),
    replicas: 2,
  });
  const { put } = chunkChanges(scene.round(), scene, []);
  return { scene, chunks: [...put], view: viewOf(scene, scene.viewN) };
}

function viewOf(scene: Scene, n: number): View {
  const members = scene.members.map(({ node, zone }) => ({ node, zone, weight: 1 }));
  const parameters = { shards: scene.shards.length, replicas: scene.replicas, placement: {} };
  return { v: 1, n, members, parameters, algorithm: "balanced/1", reason: "test" };
}

describe("storing a plan", () => {
  test("writes one chunk per 256 shards, and afterwards only those that changed", () => {
    const { scene, chunks } = stored();
    expect(chunks.map(({ chunk, shards }) => [chunk, shards.length])).toEqual([
      [0, 256],
      [1, 256],
      [2, 88],
    ]);
    expect(chunkChanges(scene.round(), scene, chunks)).toEqual({ put: [], remove: [] });
    scene.pins = [{ shard: "300", replica: 0, node: scene.placed[601]! }];
    const { put } = chunkChanges(scene.round(), scene, chunks);
    expect(put.map(({ chunk }) => chunk)).toEqual([1]);
    // What stays keeps the reason and the view that brought it there.
    expect(put[0]?.lines[0]).toEqual({ to: scene.placed[512], from: undefined, why: "new", viewN: 1 });
    expect(put[0]?.lines[88]).toMatchObject({ to: scene.placed[600], why: "pinned", viewN: 3 });
  });

  test("removes chunks that no shard is left for", () => {
    const { scene, chunks } = stored();
    scene.shards.length = 256;
    scene.placed.length = 512;
    scene.loads.length = 512;
    expect(chunkChanges(scene.round(), scene, chunks).remove).toEqual([1, 2]);
  });

  test("gives the targets back for the next plan, by id, wherever the ids now stand", () => {
    const { scene, chunks } = stored();
    expect(
      storedTargets(
        scene,
        chunks.map((chunk) => decoded(encodePlanChunk(chunk))),
      ),
    ).toEqual(scene.placed);
    const moved = storedTargets({ shards: ["7", "new", "3"], replicas: 2 }, chunks);
    expect(moved).toEqual([
      scene.placed[14],
      scene.placed[15],
      undefined,
      undefined,
      scene.placed[6],
      scene.placed[7],
    ]);
  });
});

describe("the plan that hosts use", () => {
  test("has every stored target first, and successors on other nodes, in other zones where there are", () => {
    const { scene, chunks, view } = stored();
    const plan = storedPlan({ service: "s", view, chunks });
    expect([plan.viewN, plan.lines.size]).toEqual([1, 1200]);
    const zones = new Map(view.members.map(({ node, zone }) => [node, zone]));
    let sameZone = 0;
    for (const [index, place] of scene.placed.entries()) {
      const line = plan.lines.get(`s/${Math.floor(index / 2)}/${index % 2}`)!;
      const sibling = scene.placed[index ^ 1]!;
      expect(line.candidates[0]).toBe(place);
      expect(line.candidates).toHaveLength(4);
      expect(new Set(line.candidates).size).toBe(4);
      expect(line.candidates).not.toContain(sibling);
      if (zones.get(line.candidates[1]!) === zones.get(sibling)) sameZone += 1;
    }
    expect(sameZone).toBe(0);
    expect(plan.lines.get("s/0/0")?.reason).toBe("placed when nobody held it (view 1)");
  });

  test("passes a lost node's replicas on to many nodes, never two of a shard to one", () => {
    const { scene, chunks } = stored();
    scene.members = scene.members.filter(({ node }) => node !== "n0" && node !== "n4");
    const plan = storedPlan({ service: "s", view: viewOf(scene, 2), chunks });
    const heirs = new Map<string, number>();
    for (let shard = 0; shard < 600; shard++) {
      const [first, second] = [0, 1].map((replica) => plan.lines.get(`s/${shard}/${replica}`)!);
      expect(first!.candidates[0]).not.toBe(second!.candidates[0]);
      for (const [replica, line] of [first!, second!].entries()) {
        const before = scene.placed[shard * 2 + replica]!;
        const gone = before === "n0" || before === "n4";
        expect(line.candidates[0] === before).toBe(!gone);
        if (gone) heirs.set(line.candidates[0]!, (heirs.get(line.candidates[0]!) ?? 0) + 1);
      }
    }
    expect(heirs.size).toBe(7);
    const lost = plan.lines.get(
      `s/${Math.floor(scene.placed.indexOf("n0") / 2)}/${scene.placed.indexOf("n0") % 2}`,
    );
    expect(lost?.reason).toBe(
      "n0, its target, is not in view 2: next in line until the manager has planned again",
    );
  });

  test("gives a replica back to the node it is moving away from when its new node is lost, while the move is young", () => {
    const view = (n: number): View => ({
      ...viewOf(new Scene({ members: memberList(5), loads: [1] }), n),
      parameters: { shards: 1, replicas: 1, placement: {} },
    });
    const chunk: PlanChunk = {
      chunk: 0,
      viewN: 7,
      replicas: 1,
      shards: ["0"],
      lines: [{ to: "gone", from: "n3", why: "floor", viewN: 7 }],
    };
    const first = (n: number): string | undefined =>
      storedPlan({ service: "s", view: view(n), chunks: [chunk] }).lines.get("s/0/0")?.candidates[0];
    expect([first(7), first(8)]).toEqual(["n3", "n3"]);
    const onRing = storedPlan({ service: "s", view: view(9), chunks: [] }).lines.get("s/0/0")!;
    expect(first(9)).toBe(onRing.candidates[0]);
    expect(onRing.reason).toBe("not in the stored plan yet: first in line on the ring");
  });

  test("is made anew only where chunks changed, and finds ids that moved to another chunk", () => {
    const { scene, chunks, view } = stored();
    const plans = new StoredPlans("s");
    const first = plans.plan(view, chunks);
    scene.pins = [{ shard: "300", replica: 0, node: scene.placed[601]! }];
    const { put } = chunkChanges(scene.round(), scene, chunks);
    const second = plans.plan(view, [chunks[0]!, ...put, chunks[2]!]);
    expect(second.lines.get("s/0/0")).toBe(first.lines.get("s/0/0"));
    expect(second.lines.get("s/300/0")?.candidates[0]).toBe(scene.placed[600]);
    const shardIds = ["599", ...scene.shards.slice(0, 599)];
    const shifted = plans.plan({ ...view, parameters: { ...view.parameters, shardIds } }, chunks);
    for (const [key, line] of first.lines)
      expect(shifted.lines.get(key)?.candidates).toEqual(line.candidates);
  });

  test("has nobody in line when there is nobody", () => {
    const { view } = stored();
    const line = storedPlan({ service: "s", view: { ...view, members: [] }, chunks: [] }).lines.get("s/5/1");
    expect([line?.candidates, line?.reason]).toEqual([[], "no member of the view can hold it: start a node"]);
  });
});
