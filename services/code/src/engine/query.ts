/**
 * What the engine is asked: a tree over documents. It is what a query language is translated into, not a language itself: case, scopes and repository
 * filters are settled before. A document is found when the tree is true for it; the matches shown are those of all atoms that are not below a `not`.
 */
import type { FileMatch, LineMatch } from "./result.ts";

/** Where an atom looks. `both` is true when either has it. */
export type Scope = "content" | "path" | "both";

export interface SubstringQuery {
  readonly kind: "substring";
  readonly text: string;
  readonly caseSensitive: boolean;
  readonly scope: Scope;
}

export interface RegexQuery {
  readonly kind: "regex";
  /** RE2 syntax. `.` excludes line breaks, classes may include them, `^` and `$` anchor the text unless `(?m)`. */
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly scope: Scope;
  /** As grep does: `^` and `$` anchor lines and no match crosses a line break. */
  readonly withinLines?: boolean;
}

/** Matches whose bytes lie inside one symbol's name. */
export interface SymbolQuery {
  readonly kind: "symbol";
  readonly of: SubstringQuery | RegexQuery;
}

export type EngineQuery =
  | SubstringQuery
  | RegexQuery
  | SymbolQuery
  | { readonly kind: "and" | "or"; readonly of: readonly EngineQuery[] }
  | { readonly kind: "not"; readonly of: EngineQuery }
  /** Documents on a branch whose name contains the text; `exact` compares whole names. `HEAD` is the first branch of the index. */
  | { readonly kind: "branch"; readonly name: string; readonly exact?: boolean }
  /** A linguist name, compared without case. */
  | { readonly kind: "language"; readonly name: string }
  | { readonly kind: "paths"; readonly paths: readonly string[] }
  | { readonly kind: "all" | "none" }
  /** Multiplies the score of what is found below it. */
  | { readonly kind: "boost"; readonly factor: number; readonly of: EngineQuery }
  /** `path`: content atoms decide, but only the file's name is shown, as one match. */
  | { readonly kind: "type"; readonly type: "match" | "path"; readonly of: EngineQuery };

/** Takes the files of an answer one by one, as they are made: all of them at once are many times what they are as bytes. */
export interface FileTaker {
  /** Before the first: about how many bytes there will be, as `bytesOfFile` counts them, and how many what was found takes until then. False when they are not wanted after all. */
  begin(bytes: number, foundBytes: number): Promise<boolean>;
  take(file: FileMatch): Promise<void>;
  /** More lines of the last file, which was taken with its first ones: so no file is ever whole in memory. Where it is left out, files are given whole. */
  more?(lines: readonly LineMatch[]): Promise<void>;
}

export interface SearchOptions {
  /** After this the search stops where it is and says so. */
  readonly timeCapMs?: number;
  /** Stop looking after so many matches in this index, and say so. Without it every match is counted. */
  readonly matchesMax?: number;
  /** Files in the answer, best first; counts stay exact. */
  readonly filesShownMax?: number;
  /** Matches in the answer over all files, best files first; counts stay exact. */
  readonly matchesShownMax?: number;
  /** What files may take in the answer, as `bytesOfFile` counts it: where there are more, the file that goes beyond them is the last, and not all of it is there. */
  readonly bytesShownMax?: number;
  /** Is given the files; there are none in the answer then. */
  readonly taker?: FileTaker;
  /** Best files that are at least listed, with those that are shown. */
  readonly filesListedMax?: number;
  /** Ranked as searches of text do, by how often each term is found in how much text: `rank/bm25.ts`. */
  readonly bm25?: boolean;
  /** Say of files and lines how they came by their scores. */
  readonly explain?: boolean;
  readonly contextLines?: number;
  /** The whole file in every result. */
  readonly whole?: boolean;
  /** As grep does: of each line only the first match is looked for and given, and matches are counted as lines. For `searchLines` alone. */
  readonly firstOfLine?: boolean;
  readonly signal?: AbortSignal;
}
