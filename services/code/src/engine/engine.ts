/**
 * The engine's face: indexes of repositories in fixed shared memory, built and searched by worker threads. It knows no shard, no git and no query language.
 *
 * Memory is a budget that is set once. Indexes are made of segments inside shared arenas; what is released is used again, and nothing is ever
 * allocated beyond the budget: a build or load that does not fit fails with `OUT_OF_MEMORY` and leaves the rest as it was.
 */
import type { DocumentInfo, NamedSymbol, SourceDocument } from "./document.ts";
import type { EngineQuery, SearchOptions } from "./query.ts";
import type { SearchResult } from "./result.ts";
import type { SymbolReader } from "./symbols/ctags.ts";

export interface EngineOptions {
  /** All memory for indexes together. */
  readonly memoryBytes: number;
  /** Threads that search; 2 unless told. Builds run on one more each, while they last. */
  readonly workers?: number;
  /** More of them while searches take long and others wait; 4 unless told. */
  readonly spareWorkers?: number;
  /** The process has little memory besides: its heap is kept small, and it builds in less memory. */
  readonly small?: boolean;
}

export interface BuildOptions {
  /** Names of all branches, the default branch first. At most 64. */
  readonly branches: readonly string[];
  /** Documents above this are indexed by path alone. */
  readonly documentBytesMax?: number;
  /** Its documents are taken over where path and object id are the same; what is unchanged is shared, not copied. */
  readonly previous?: CodeIndex;
  readonly signal?: AbortSignal;
}

export interface IndexStats {
  readonly documents: number;
  readonly contentBytes: number;
  /** Of arena memory; segments shared with another index count in both. */
  readonly memoryBytes: number;
  readonly lines: number;
  readonly defaultBranchLines: number;
  /** What is on several of the others counts for each. */
  readonly otherBranchesLines: number;
  readonly segments: number;
  /** The second pass has been through all of it. */
  readonly symbols: boolean;
}

/** An immutable index of one repository. It stays until released; a search in progress keeps it until it ends. */
export interface CodeIndex {
  readonly stats: IndexStats;
  readonly branches: readonly string[];
  document(number: number): DocumentInfo | undefined;
  /** The live documents. */
  documents(): Iterable<DocumentInfo>;
  /** The documents with this path, on any branch. */
  find(path: string, branch?: string): DocumentInfo | undefined;
  /** A copy of the bytes. */
  content(document: number): Buffer;
  /** The symbols of a document, in the order of the text; none before the second pass. */
  symbols(document: number): readonly NamedSymbol[];
  search(query: EngineQuery, options?: SearchOptions): Promise<SearchResult>;
  /** Each match as one line of JSON, in the order of the index, in pieces of whole lines: the cheapest way to have everything. A piece is valid until the next is asked for. */
  searchLines(query: EngineQuery, options?: SearchOptions): AsyncIterable<Uint8Array>;
  /** The index as bytes, in pieces, each with its checksum; what `load` takes. Versioned. */
  serialize(): AsyncIterable<Uint8Array>;
  /** Reads all of it against its checksums; false means that memory no longer holds what was built. */
  verify(): Promise<boolean>;
  /** Gives the memory back once no search uses it. */
  release(): void;
}

export interface CodeEngine {
  /** The whole list of documents every time; with `previous`, only new content needs to be there. */
  build(
    documents: Iterable<SourceDocument> | AsyncIterable<SourceDocument>,
    options: BuildOptions,
  ): Promise<CodeIndex>;
  load(pieces: AsyncIterable<Uint8Array>): Promise<CodeIndex>;
  /**
   * A second pass, because symbols take ten times as long as text: a new index with the symbols of all that had none, sharing the text. Undefined when nothing lacks them.
   * The one given stays as it is.
   */
  addSymbols(index: CodeIndex, reader: SymbolReader, signal?: AbortSignal): Promise<CodeIndex | undefined>;
  readonly memory: MemoryStats;
  /** Threads that search: how many have died since the beginning, and how many are dead now, until they are started again. */
  readonly threads: { readonly deaths: number; readonly dead: number };
  close(): Promise<void>;
}

export interface MemoryStats {
  readonly budgetBytes: number;
  readonly usedBytes: number;
  /** Of arena memory ever touched: what the operating system counts as resident. */
  readonly touchedBytes: number;
  /** What surely fits: less than what is free, which lies in gaps between indexes. */
  readonly roomBytes: number;
}
