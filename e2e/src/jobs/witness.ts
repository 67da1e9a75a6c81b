/** What workers see of the queue, and what it must never show them: a job in two hands at once, or more of them than a limit allows. Exact, because all workers live in one process. */
import type { RunningJob } from "@keelson/jobs";

export class Witness {
  readonly completed = new Map<string, number>();
  readonly broken: string[] = [];
  readonly #limit: number;
  readonly #now = new Set<string>();
  readonly #limited = new Map<string, number>();

  /** So many jobs of a tenant may run at once. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A handler that takes a moment, so that two at once would be seen. */
  readonly handler = async (job: RunningJob): Promise<string> => {
    const name = `${job.tenant}/${job.id}`;
    if (this.#now.has(name)) this.broken.push(`${name} runs twice at once`);
    this.#now.add(name);
    const held = (this.#limited.get(job.tenant) ?? 0) + 1;
    this.#limited.set(job.tenant, held);
    if (held > this.#limit) this.broken.push(`${held} jobs of ${job.tenant} run at once`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.#limited.set(job.tenant, (this.#limited.get(job.tenant) ?? 1) - 1);
    this.#now.delete(name);
    this.completed.set(name, (this.completed.get(name) ?? 0) + 1);
    return name;
  };
}
