/** A dedupe key of a tenant: at most one job of it has not started yet, and at most one has. */
import type { Job } from "./job.ts";

export class DedupeKey {
  readonly key: string;
  /** Has not started; later triggers join it. */
  next: Job | undefined = undefined;
  /** Has started and not ended; `next` waits for its end. */
  current: Job | undefined = undefined;
  /** Throttled: the next one does not start before this. */
  openAtMs = 0;
  /** When the first trigger of `next` came, for the longest wait of a debounce. */
  firstAtMs = 0;

  constructor(key: string) {
    this.key = key;
  }
}
