/** What a search answers. Offsets are bytes from the start of the file, lines count from 1, columns are characters (code points) from 1. */

export interface Position {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

export interface SymbolInfo {
  readonly name: string;
  readonly kind: string;
  readonly parent: string;
  readonly parentKind: string;
}

export interface MatchRange {
  readonly start: Position;
  readonly end: Position;
  /** The symbol whose name the match touches. */
  readonly symbol?: SymbolInfo;
}

/** One line with its matches; a match that crosses lines belongs to the line it starts on, and all lines that it touches are in the text. */
export interface LineMatch {
  readonly line: number;
  /** Where the text starts and ends, with its line break if there is one. */
  readonly start: number;
  readonly end: number;
  readonly text: Buffer;
  readonly ranges: readonly MatchRange[];
  readonly score: number;
  /** How it came by its score, when that was asked for. */
  readonly debug?: string;
  /** The lines before and after, with their line breaks, when context was asked for. */
  readonly before?: Buffer;
  readonly after?: Buffer;
}

export interface FileMatch {
  /** The number of the document in its index. */
  readonly document: number;
  readonly path: string;
  readonly oid: string;
  readonly language: string;
  readonly branches: readonly string[];
  readonly score: number;
  readonly matchCount: number;
  /** How it came by its score, when that was asked for. */
  readonly debug?: string;
  /** Of its best match in the path, where the content has none. */
  readonly pathScore?: number;
  /** Byte ranges of matches in the path; shown when the content has none. */
  readonly pathRanges: readonly { readonly start: number; readonly end: number }[];
  readonly lines: readonly LineMatch[];
  readonly content?: Buffer;
}

export type ListedFile = Pick<FileMatch, "path" | "language">;

/** Why an answer may lack something. */
export type PartialReason = "time-cap" | "matches-max" | "cancelled";

export interface SearchResult {
  /** Best first; equal scores in the order of the index. */
  readonly files: readonly FileMatch[];
  /** The files after these, when they were asked for. */
  readonly listed?: readonly ListedFile[];
  readonly partial?: PartialReason;
  readonly counts: SearchCounts;
}

/** Exact, unless the result says it is partial. */
export interface SearchCounts {
  readonly files: number;
  /** That have a part of a match; a file of which only the name matched, or nothing was looked for in, is one. */
  readonly lines: number;
  readonly matches: number;
  readonly documents: number;
  readonly documentsScanned: number;
  readonly bytesScanned: number;
}
