import highsModule from "highs";
import { expect, test } from "vitest";
import { chanceOf, member, Scene } from "./fixtures/scene.ts";
import type { BalancedMember } from "./input.ts";
import { zoneLevel } from "./zones.ts";

interface Solver {
  solve(problem: string, options: { mip_rel_gap: number }): { Status: string; ObjectiveValue: number };
}

/** A CommonJS module whose types speak of a default export. */
const loadSolver = highsModule as unknown as () => Promise<Solver>;

/** How far the solver may stay from the optimum itself. */
const solverGap = 0.005;

interface Instance {
  readonly members: readonly BalancedMember[];
  /** Per shard and dimension. */
  readonly loads: readonly (readonly number[])[];
  readonly replicas: number;
}

/** At most 12 shards and 5 nodes, of the more difficult kind: few large pieces, one or two dimensions, two capacities, up to three zones. */
function draw(seed: number): Instance {
  const chance = chanceOf(seed);
  const roll = (sides: number): number => Math.floor(chance() * sides);
  const nodes = 3 + roll(3);
  const dimensions = 1 + roll(2);
  const zones = 1 + roll(3);
  const members = Array.from({ length: nodes }, (_, i) =>
    member(`n${i}`, {
      zone: `z${roll(zones)}`,
      capacity: Array.from({ length: dimensions }, () => 1 + roll(2)),
    }),
  );
  const load = (): number => (roll(3) === 0 ? (1 + roll(10)) ** -0.8 : 0.1 + chance());
  const loads = Array.from({ length: 6 + roll(7) }, () => Array.from({ length: dimensions }, load));
  return { members, loads, replicas: 1 + roll(3) };
}

/** The lowest possible highest utilisation, as a multiple of the average, as a mixed-integer program in CPLEX's format. */
function program({ members, loads, replicas }: Instance): string {
  const on = (shard: number, node: number): string => `x${shard}_${node}`;
  const rows: string[] = [];
  const zones = [...new Set(members.map(({ zone }) => zone))];
  const level = zoneLevel(
    zones.map((zone) => members.filter((one) => one.zone === zone).length),
    replicas,
  );
  for (const shard of loads.keys()) {
    rows.push(`${members.map((_, node) => on(shard, node)).join(" + ")} = ${replicas}`);
    for (const zone of zones) {
      const inside = members.flatMap((one, node) => (one.zone === zone ? [on(shard, node)] : []));
      rows.push(`${inside.join(" + ")} <= ${level}`);
    }
  }
  for (const [d] of loads[0]!.entries()) {
    const total = loads.reduce((sum, load) => sum + load[d]! * replicas, 0);
    const capacity = members.reduce((sum, one) => sum + one.capacity[d]!, 0);
    for (const [node, one] of members.entries()) {
      const terms = loads.map((load, shard) => `${load[d]!.toFixed(9)} ${on(shard, node)}`).join(" + ");
      rows.push(`${terms} - ${((one.capacity[d]! * total) / capacity).toFixed(9)} peak <= 0`);
    }
  }
  const binaries = loads.flatMap((_, shard) => members.map((__, node) => on(shard, node)));
  return `Minimize\n goal: peak\nSubject To\n${rows.map((row, i) => ` r${i}: ${row}`).join("\n")}\nBinary\n ${binaries.join(" ")}\nEnd\n`;
}

/**
 * Instances that the solver proves in a fraction of a second each. Of all seeds from 1 to 200, ten views each, the worst was at 1.027 (seed 86); 31 is one where zones and
 * two dimensions pull in different directions.
 */
const seeds = [3, 10, 13, 16, 17, 31, 32, 53];

test("places small fleets within 3 % of the optimum that a MIP solver finds", async () => {
  const solver = await loadSolver();
  for (const seed of seeds) {
    const instance = draw(seed);
    const dimensions = instance.loads[0]!.map((_, d) => ({ name: `d${d}`, hard: false }));
    const scene = new Scene({ ...instance, dimensions });
    scene.round();
    const { Status: status, ObjectiveValue: optimum } = solver.solve(program(instance), {
      mip_rel_gap: solverGap,
    });
    expect([seed, status]).toEqual([seed, "Optimal"]);
    const found = Math.max(...scene.heights().values());
    expect(found / optimum, `seed ${seed}`).toBeLessThanOrEqual(1.03);
    // Both speak of the same problem: nothing is better than the optimum.
    expect(found / optimum, `seed ${seed}`).toBeGreaterThanOrEqual(1 - solverGap - 1e-6);
  }
}, 120_000);
