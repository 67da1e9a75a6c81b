// oxlint-disable vitest/no-conditional-expect -- a model is compared at every step.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EngineScene, job } from "../engine-scene.ts";
import type { JobSpec } from "../model/job-spec.ts";

/**
 * The scheduler again, as plainly as it can be said: look at every job, every time. Waiters, wake-ups and heaps are not in here, so what they do must not show.
 */
class NaiveModel {
  readonly #waiting: { readonly spec: JobSpec; readonly startAtMs: number; readonly seq: number }[] = [];
  readonly #running = new Map<string, JobSpec>();
  readonly #maxima = new Map<string, number>();
  readonly #weights: ReadonlyMap<string, number>;
  #seq = 0;

  constructor(weights: ReadonlyMap<string, number>) {
    this.#weights = weights;
  }

  enqueue(spec: JobSpec, nowMs: number): void {
    this.#waiting.push({ spec, startAtMs: spec.startAtMs ?? nowMs, seq: ++this.#seq });
    for (const limit of spec.limits ?? [])
      if (limit.kind === "concurrency") this.#maxima.set(`${spec.tenant}/${limit.key}`, limit.max);
  }

  finish(id: string): void {
    this.#running.delete(id);
  }

  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** The job of a tenant whose turn it is now. */
  best(tenant: string, nowMs: number): string | undefined {
    const able = this.#waiting.filter(
      ({ spec, startAtMs }) => spec.tenant === tenant && startAtMs <= nowMs && this.#fits(spec),
    );
    able.sort((a, b) => a.spec.priority! - b.spec.priority! || a.startAtMs - b.startAtMs || a.seq - b.seq);
    return able[0]?.spec.id;
  }

  /** Tenants that could run something, those with the fewest running tasks per weight only. */
  turns(nowMs: number): string[] {
    const tenants = [...this.#weights.keys()].filter((tenant) => this.best(tenant, nowMs) !== undefined);
    const load = (tenant: string): number =>
      [...this.#running.values()].filter((spec) => spec.tenant === tenant).length /
      this.#weights.get(tenant)!;
    const least = Math.min(...tenants.map(load));
    return tenants.filter((tenant) => load(tenant) === least);
  }

  take(id: string): void {
    const at = this.#waiting.findIndex(({ spec }) => spec.id === id);
    const [taken] = this.#waiting.splice(at, 1);
    this.#running.set(id, taken!.spec);
  }

  #fits(spec: JobSpec): boolean {
    return (spec.limits ?? []).every((limit) => {
      if (limit.kind !== "concurrency") return true;
      const holders = [...this.#running.values()].filter(
        (other) =>
          other.tenant === spec.tenant &&
          (other.limits ?? []).some((each) => each.kind === "concurrency" && each.key === limit.key),
      );
      return holders.length < this.#maxima.get(`${spec.tenant}/${limit.key}`)!;
    });
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("enqueue" as const),
      tenant: fc.integer({ min: 0, max: 2 }),
      priority: fc.integer({ min: 0, max: 3 }),
      delayMs: fc.constantFrom(0, 0, 50),
      keys: fc.uniqueArray(fc.integer({ min: 0, max: 2 }), { maxLength: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("lease" as const), max: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("finish" as const), which: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 60 }) }),
  },
);

describe("the scheduler", () => {
  it("chooses as a model does that looks at every job, and leaves nothing lying that could run", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const weights = new Map([
          ["t0", 1],
          ["t1", 2],
          ["t2", 1],
        ]);
        const model = new NaiveModel(weights);
        const scene = new EngineScene();
        for (const [tenant, weight] of weights) scene.do({ kind: "setTenant", tenant, weight });
        const tasks = new Map<string, ReturnType<EngineScene["lease"]>[number]>();
        let number = 0;
        for (const each of steps) {
          if (each.kind === "pass") scene.pass(each.ms);
          if (each.kind === "enqueue") {
            const limits = each.keys.map((key) => ({
              kind: "concurrency" as const,
              key: `k${key}`,
              max: key + 1,
            }));
            const startAtMs = each.delayMs === 0 ? undefined : scene.wallMs + each.delayMs;
            const spec = job(`j${++number}`, {
              tenant: `t${each.tenant}`,
              priority: each.priority,
              startAtMs,
              limits,
            });
            scene.enqueue(spec);
            model.enqueue(spec, scene.wallMs);
          }
          if (each.kind === "finish" && model.running.length > 0) {
            const id = model.running[each.which % model.running.length]!;
            scene.report(tasks.get(id));
            model.finish(id);
          }
          if (each.kind === "lease") {
            for (let left = each.max; left > 0; left--) {
              const [task] = scene.lease();
              const turns = model.turns(scene.wallMs);
              if (task === undefined) {
                expect(turns).toEqual([]);
                break;
              }
              expect(turns).toContain(task.spec.tenant);
              expect(task.spec.id).toBe(model.best(task.spec.tenant, scene.wallMs));
              model.take(task.spec.id);
              tasks.set(task.spec.id, task);
            }
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});
