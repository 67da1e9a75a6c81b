/** A search as it travels from whoever asks to the holder of a repository, and what comes back. Plain data. */
import type { FileMatch, SearchCounts } from "../engine/index.ts";
import type { Head } from "../git/index.ts";
import type { Query } from "../query/index.ts";
import type { Facets } from "./facets.ts";

export interface SearchRequest {
  readonly query: Query;
  readonly options: ShardSearchOptions;
}

/** For every line that is found. */
export interface LinesRequest {
  readonly query: Query;
  readonly timeCapMs: number;
}

export interface ShardSearchOptions {
  /** The search stops there, and says so. */
  readonly timeCapMs: number;
  /** Stop looking after so many matches; undefined counts them all. */
  readonly matchesMax?: number | undefined;
  readonly filesShownMax?: number | undefined;
  readonly matchesShownMax?: number | undefined;
  readonly contextLines?: number | undefined;
  /** Rank by BM25. */
  readonly bm25?: boolean | undefined;
  /** Say how files and lines came by their scores. */
  readonly explain?: boolean | undefined;
  /** Whole files in the answer. */
  readonly whole?: boolean | undefined;
  /** Count the files by language and folder. */
  readonly facets?: boolean | undefined;
}

/** What comes before the lines: what they are of. */
export interface LinesBegin {
  readonly repository: AnsweringRepository;
  /** It could not be brought up to date: the commit is older than it should be. */
  readonly stale?: string;
}

/** Why an answer may lack something. */
type ShardPartialReason =
  | "time-cap"
  | "matches-max"
  | "cancelled"
  | "answer-bytes"
  | "answer-memory"
  /** Said by a gateway: of what was found too much waited to be read. */
  | "stream-memory"
  /** They were asked for, and are not known. */
  | "symbols";

/** One repository's answer: everything in it is of one set of commits. */
export interface ShardAnswer {
  readonly repository: AnsweringRepository;
  readonly files: readonly FileMatch[];
  readonly counts: SearchCounts;
  readonly partial?: ShardPartialReason;
  readonly facets?: Facets;
  /** It could not be brought up to date: the commit is older than it should be. */
  readonly stale?: string;
}

/** The same between nodes: see `packed-files.ts`. */
export type PackedAnswer = Omit<ShardAnswer, "files"> & { readonly packed: Uint8Array };

export interface AnsweringRepository {
  readonly id: number;
  readonly name: string;
  readonly url: string;
  readonly rank: number;
  readonly heads: readonly Head[];
  /** Wall clock. */
  readonly indexedAt: number;
}
