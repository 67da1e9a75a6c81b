/** What running jobs last said of their progress. Kept in memory while they run, for whoever looks at a job; lost with the tenure. */
import { isFinal, type Effect, type JobName } from "../engine/index.ts";

const JOBS_MAX = 100_000;

export class ProgressBoard {
  readonly #said = new Map<string, unknown>();

  set(name: JobName, progress: unknown): void {
    if (this.#said.size < JOBS_MAX || this.#said.has(keyOf(name))) this.#said.set(keyOf(name), progress);
  }

  get(name: JobName): unknown {
    return this.#said.size === 0 ? undefined : this.#said.get(keyOf(name));
  }

  effects(effects: readonly Effect[]): void {
    if (this.#said.size === 0) return;
    for (const effect of effects)
      if (effect.kind === "status" && isFinal(effect.status))
        for (const id of effect.ids) this.#said.delete(keyOf({ tenant: effect.tenant, id }));
  }
}

function keyOf({ tenant, id }: JobName): string {
  return `${tenant}\n${id}`;
}
