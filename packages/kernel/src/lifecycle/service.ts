import type { Epoch } from "../identity/epoch.ts";

/**
 * What a service gives the kernel. `open` is enough; a service that builds or loads gives `prepare` instead, so that a planned
 * move has no gap: the successor prepares while the holder still serves.
 */
export interface ShardHandler {
  open?(context: OpenContext): Promise<Shard>;
  prepare?(context: PrepareContext): Promise<Prepared>;
}

export interface PrepareContext {
  readonly shard: string;
  readonly replica: number;
  /** Aborted when the replica is no longer wanted here. */
  readonly signal: AbortSignalLike;
  /** 0 to 1; shown by CLI and console, and told to callers while the shard is warming. */
  progress(fraction: number): void;
}

export interface OpenContext extends PrepareContext {
  readonly epoch: Epoch;
}

/** Built or loaded, not yet granted. May be activated again, with a higher epoch, after the shard it gave was closed. */
export interface Prepared {
  /** Must first raise the epoch at every resource it writes, then read. Admission begins when it resolves. */
  activate(epoch: Epoch): Promise<Shard>;
  /** No longer wanted here. */
  close?(): Promise<void>;
}

/** A held replica. */
export interface Shard {
  handle(request: ShardRequest): Promise<unknown>;
  /** Answers with many items. It is admitted like a request, does not keep a drain waiting, and is ended when the tenure ends; `signal` says so, or that nobody reads any more. */
  stream?(request: ShardRequest): AsyncIterable<unknown>;
  /** Called with the write epoch when this replica becomes primary: raise it at the shared resources, then read. */
  promote?(epoch: Epoch): Promise<void>;
  demote?(): Promise<void>;
  /** Admission has stopped; finish what is under way. `deadlineMs` is how long there is. */
  drain?(deadlineMs: number): Promise<void>;
  /** The tenure has ended, however it ended. Must not write any more. */
  close?(): Promise<void>;
  stats?(): ShardStats;
}

export interface ShardRequest {
  readonly method: string;
  readonly mode: "read" | "write";
  readonly body: unknown;
  /** The tenure's epoch, or for writes of a service with primaries the write epoch. */
  readonly epoch: Epoch;
  readonly signal: AbortSignalLike;
  readonly timeoutMs: number;
  /** The caller's trace (W3C traceparent), to pass on with calls that this one makes. */
  readonly trace?: string | undefined;
  /** Resolves when the answer has left the node, or is not wanted any more: until then its memory is in use. Undefined where nobody knows. */
  readonly left?: Promise<void> | undefined;
}

export interface ShardStats {
  readonly sizeBytes?: number;
  readonly load?: number;
}

/** What a service says of a node's memory, for auctions and claims: how much of it is left, and how much a shard takes. */
export interface ShardMemory {
  /** What there is for shards in all. */
  readonly budgetBytes: number;
  /** What is left beside the shards prepared here, and those still being closed. What is only being prepared is not taken off: the kernel does that, with `sizeOf`. */
  freeBytes(): number;
  /** Measured, for a shard that is or was prepared here; otherwise an estimate, rather too large than too small. */
  sizeOf(shard: string): number;
  /** What a shard was found to need since it was last measured, where that is known: no node with less should have it, whatever it took before. */
  leastSizeOf?(shard: string): number | undefined;
}

/** The part of AbortSignal that the kernel may name without naming a platform. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}
