/**
 * Active jobs by number, in pages of 256: how records find a job, and what a checkpoint writes. A page is dirty when a job of it has changed since the last
 * checkpoint began. While a checkpoint is being taken, a page that is about to change is handed over first, so that what is written is of one moment.
 */
import type { Job } from "./job.ts";

const SHIFT = 8;
const PAGE_JOBS = 1 << SHIFT;

export interface JobPage {
  readonly number: number;
  readonly jobs: (Job | undefined)[];
  size: number;
  dirty: boolean;
  /** A checkpoint holds it. */
  stored: boolean;
}

export class JobPages {
  readonly #pages = new Map<number, JobPage>();
  /** Dirty now. */
  #dirty = new Set<JobPage>();
  /** Of the checkpoint that is being taken: not handed over yet. */
  #pending = new Set<JobPage>();
  #handOver: ((page: JobPage) => void) | undefined;

  find(seq: number): Job | undefined {
    return this.#pages.get(Math.floor(seq / PAGE_JOBS))?.jobs[seq % PAGE_JOBS];
  }

  /** Call before a job of the page changes. */
  touch(job: Job): void {
    const page = this.#pages.get(Math.floor(job.seq / PAGE_JOBS));
    if (page !== undefined) this.#touch(page);
  }

  add(job: Job): void {
    const number = Math.floor(job.seq / PAGE_JOBS);
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = { number, jobs: [], size: 0, dirty: false, stored: false };
      this.#pages.set(number, page);
    }
    this.#touch(page);
    page.jobs[job.seq % PAGE_JOBS] = job;
    page.size += 1;
  }

  /** An empty page stays until a checkpoint has said so. */
  remove(job: Job): void {
    const page = this.#pages.get(Math.floor(job.seq / PAGE_JOBS));
    const at = job.seq % PAGE_JOBS;
    if (page?.jobs[at] !== job) return;
    this.#touch(page);
    page.jobs[at] = undefined;
    page.size -= 1;
  }

  *jobs(): Generator<Job> {
    for (const { jobs } of this.#pages.values()) for (const job of jobs) if (job !== undefined) yield job;
  }

  get dirtyPages(): number {
    return this.#dirty.size;
  }

  /** Begins a checkpoint: `handOver` gets every page that was dirty at this moment, as it was, once; by `handOverSome`, or when it is about to change. */
  beginHandOver(handOver: (page: JobPage) => void): void {
    this.#pending = this.#dirty;
    this.#dirty = new Set();
    for (const page of this.#pending) page.dirty = false;
    this.#handOver = handOver;
  }

  /** Hands over at most `pagesMax`; true when all are. */
  handOverSome(pagesMax: number): boolean {
    let left = pagesMax;
    for (const page of this.#pending) {
      if (left-- <= 0) return false;
      this.#give(page);
      // Not where a page is handed over because a job is about to come into it.
      if (page.size === 0) this.#pages.delete(page.number);
    }
    return true;
  }

  /**
   * Everything is to be written again: the checkpoint failed, or the pages were just loaded from elsewhere. `stored` are the pages that the last checkpoint holds:
   * one that has become empty since, and was let go when the failed one was told so, must be told to the next.
   */
  markAllDirty(stored: Iterable<number> = []): void {
    this.#pending.clear();
    for (const number of stored) {
      const page = this.#pages.get(number) ?? { number, jobs: [], size: 0, dirty: true, stored: true };
      page.stored = true;
      this.#pages.set(number, page);
    }
    for (const page of this.#pages.values()) {
      page.dirty = true;
      this.#dirty.add(page);
    }
  }

  /** What was loaded is what is stored. */
  markAllStored(): void {
    for (const page of this.#pages.values()) {
      page.dirty = false;
      page.stored = true;
    }
    this.#dirty.clear();
  }

  #touch(page: JobPage): void {
    if (this.#pending.size > 0 && this.#pending.has(page)) this.#give(page);
    if (page.dirty) return;
    page.dirty = true;
    this.#dirty.add(page);
  }

  #give(page: JobPage): void {
    this.#pending.delete(page);
    if (page.size > 0 || page.stored) this.#handOver?.(page);
    page.stored = page.size > 0;
  }
}
