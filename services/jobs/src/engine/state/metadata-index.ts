/** Which active jobs of a tenant have a piece of metadata, in order of enqueue. */
import type { Job } from "./job.ts";

export class MetadataIndex {
  readonly #jobs = new Map<string, Set<Job>>();

  add(job: Job, metadata: Readonly<Record<string, string>>): void {
    for (const key of Object.keys(metadata)) {
      const pair = pairOf(key, metadata[key] as string);
      const jobs = this.#jobs.get(pair);
      if (jobs === undefined) this.#jobs.set(pair, new Set([job]));
      else jobs.add(job);
    }
  }

  remove(job: Job, metadata: Readonly<Record<string, string>>): void {
    for (const key of Object.keys(metadata)) {
      const pair = pairOf(key, metadata[key] as string);
      const jobs = this.#jobs.get(pair);
      if (jobs?.delete(job) === true && jobs.size === 0) this.#jobs.delete(pair);
    }
  }

  find(key: string, value: string): ReadonlySet<Job> {
    return this.#jobs.get(pairOf(key, value)) ?? NONE;
  }
}

const NONE: ReadonlySet<Job> = new Set();

function pairOf(key: string, value: string): string {
  return `${key}\0${value}`;
}
