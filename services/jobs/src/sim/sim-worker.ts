/** A worker in the simulator: leases, runs, renews, reports; sometimes vanishes with its tasks, and sometimes reports long after its lease has run out. */
import type { LeasedTask } from "../engine/model/views.ts";
import { nameOf } from "./checker.ts";
import type { World } from "./world.ts";

export class SimWorker {
  readonly name: string;
  readonly #world: World;
  readonly #group: string;
  readonly #tasks = new Map<number, { readonly task: LeasedTask; stopped: boolean }>();

  constructor(world: World, name: string, group: string) {
    this.#world = world;
    this.name = name;
    this.#group = group;
  }

  start(): void {
    const { chance, timeline } = this.#world;
    timeline.after(chance.whole(0, 100), () => this.#ask());
  }

  stop(task: number): void {
    const own = this.#tasks.get(task);
    if (own === undefined) return;
    own.stopped = true;
    this.#forget(task);
  }

  #ask(): void {
    const { world, chance, timeline, knobs } = this.#parts();
    const askedMs = timeline.nowMs;
    const max = chance.whole(1, 4);
    timeline.after(chance.whole(10, 200), () => this.#ask());
    if (this.#tasks.size >= 8) return;
    world.send(
      { kind: "lease", group: this.#group, worker: this.name, max, leaseMs: knobs.leaseMs },
      (answer) => {
        if ("refused" in answer) return world.checker.break(`a lease was refused: ${answer.message}`);
        for (const task of answer.tasks) this.#run(task, askedMs);
      },
    );
  }

  #run(task: LeasedTask, askedMs: number): void {
    const { world, chance, timeline, knobs } = this.#parts();
    if (task.spec.timeoutMs !== undefined) world.checker.excuse(nameOf(task.spec.tenant, task.spec.id));
    world.checker.heard(this.name, task, askedMs + knobs.leaseMs, timeline.nowMs);
    const own = { task, stopped: false };
    this.#tasks.set(task.task, own);
    if (!world.calm && chance.yes(knobs.workerVanishes)) {
      if (chance.yes(0.5)) return this.#forget(task.task);
      // It goes on without renewing, and reports in the end.
      timeline.after(chance.whole(0, knobs.leaseMs * 3), () => this.#report(task, own));
      return;
    }
    const durationMs = chance.yes(0.9) ? chance.whole(0, 300) : chance.whole(0, knobs.leaseMs * 2);
    timeline.after(durationMs, () => this.#report(task, own));
    this.#renewLater(task, own);
  }

  #renewLater(task: LeasedTask, own: { stopped: boolean }): void {
    const { world, timeline, knobs } = this.#parts();
    timeline.after(Math.floor(knobs.leaseMs / 3), () => {
      if (own.stopped || !this.#tasks.has(task.task)) return;
      const askedMs = timeline.nowMs;
      world.send({ kind: "heartbeat", worker: this.name, tasks: [task.task] }, ([beat]) => {
        if (beat?.state === "lost") this.stop(task.task);
        else world.checker.renewed(task.task, askedMs + knobs.leaseMs);
      });
      this.#renewLater(task, own);
    });
  }

  #report(task: LeasedTask, own: { stopped: boolean }, tries = 0): void {
    const { world, chance, timeline } = this.#parts();
    if (own.stopped) return;
    if (chance.yes(0.02)) {
      this.#forget(task.task);
      world.send({ kind: "giveBack", worker: this.name, tasks: [task.task] }, () => {});
      return;
    }
    const job = nameOf(task.spec.tenant, task.spec.id);
    const outcome = chance.yes(0.85)
      ? ({ kind: "succeeded", result: Buffer.from("ok") } as const)
      : ({ kind: "failed", code: "E", data: Buffer.alloc(0) } as const);
    // It is done with the task from here on, whatever becomes of the report.
    world.checker.letGo(task.task);
    let answered = false;
    world.send({ kind: "report", reports: [{ task: task.task, worker: this.name, outcome }] }, ([answer]) => {
      answered = true;
      this.#forget(task.task);
      if (answer !== undefined && "done" in answer && answer.status === "succeeded")
        world.checker.succeeded(job);
    });
    timeline.after(chance.whole(500, 2000), () => {
      if (!answered && tries < 5 && this.#tasks.has(task.task)) this.#report(task, own, tries + 1);
      else this.#forget(task.task);
    });
  }

  #forget(task: number): void {
    this.#tasks.delete(task);
    this.#world.checker.letGo(task);
  }

  #parts(): Pick<World, "chance" | "timeline" | "knobs"> & { readonly world: World } {
    const { chance, timeline, knobs } = this.#world;
    return { world: this.#world, chance, timeline, knobs };
  }
}
