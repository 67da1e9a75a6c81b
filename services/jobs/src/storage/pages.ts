/**
 * Where checkpoints and finished jobs lie: an ordered store of packed values. Values are tens of kilobytes, because every value has a price of its own in the
 * stores behind this (see docs/design/jobs.md). Whoever opens a shard's pages fences all earlier openers.
 */
export interface PageEntry {
  readonly key: string;
  readonly value: Uint8Array;
}

export interface PageBatch {
  readonly put: readonly PageEntry[];
  readonly delete: readonly string[];
  /** `false`: it comes before all later batches, and is durable when one of these is. */
  readonly durable?: false;
}

export interface ScanOptions {
  /** Only keys after this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface Pages {
  get(key: string): Promise<Uint8Array | undefined>;
  /** Keys that begin with `prefix`, in the order of their code units. All keys are ASCII. */
  scan(prefix: string, options: ScanOptions): Promise<readonly PageEntry[]>;
  /** All or nothing; durable when it resolves, if not said otherwise. Rejects when a later opener has fenced this one. */
  write(batch: PageBatch): Promise<void>;
  close(): Promise<void>;
}
