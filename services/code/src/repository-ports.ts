/** What a repository on this node needs of it. */
import type { Epoch } from "@keelson/kernel";
import type { Tracer } from "@keelson/runtime";
import type { BuildPorts } from "./build.ts";
import type { SymbolReader } from "./engine/index.ts";
import type { HeldRepository } from "./held-repository.ts";
import type { Limiter } from "./limiter.ts";
import type { CodeMetrics } from "./metrics.ts";
import type { TextMatcher } from "./query/index.ts";
import type { IndexRecord, Repository } from "./repository.ts";
import type { AnswerMemory } from "./search/answer-memory.ts";
import type { SnapshotFolder } from "./snapshot-folder.ts";
import type { ReceivingPorts, Transfers } from "./transfer.ts";

export interface RepositoryPorts extends Omit<BuildPorts, "room" | "span" | "now">, ReceivingPorts {
  readonly transfers: Transfers;
  readonly metrics: CodeMetrics;
  readonly tracer?: Tracer | undefined;
  readonly snapshots?: SnapshotFolder | undefined;
  /** Reads symbols, for the second pass over an index; undefined when nothing here can. */
  readonly symbols: () => Promise<SymbolReader | undefined>;
  readonly matcher: TextMatcher;
  /** What answers may take, and what was found for those that wait. */
  readonly answers: AnswerMemory;
  readonly found: AnswerMemory;
  /** So many searches for every line run at once: each has a thread for as long as its reader takes. */
  readonly lines: Limiter;
  readonly pollMs: number;
  readonly verifyMs: number;
  readonly row: (id: number) => Repository | undefined;
  /** Makes room for so much, by evicting others if need be, and keeps it until it is released; rejects when there cannot be. */
  readonly room: (repository: Repository, bytes: number, own: HeldRepository) => Promise<() => void>;
  /** What it took when it was last held anywhere; what others take when it never was. */
  readonly before: (id: number) => Pick<IndexRecord, "contentBytes" | "memoryBytes"> | undefined;
  /** What somebody found that it needs, and it has not had since. */
  readonly foundBytes: (id: number) => number | undefined;
  /** Says to all that it needs so much. */
  readonly foundSize: (id: number, bytes: number) => Promise<void>;
  /** Whether it is told. */
  readonly record: (id: number, replica: number, epoch: Epoch, record: IndexRecord) => Promise<boolean>;
  readonly log: (message: string, details: Readonly<Record<string, unknown>>) => void;
}
