/** What an index is made of, and what can be read back from it. */

/** A symbol's name in a file: half-open byte offsets, in rising order, never overlapping. */
export interface SymbolSpan {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
  readonly parent?: string;
  readonly parentKind?: string;
}

/** A symbol with the text of its name. */
export interface NamedSymbol extends SymbolSpan {
  readonly name: string;
}

/** One path with one content, on one or more branches. The same path with other content on another branch is another document. */
export interface SourceDocument {
  readonly path: string;
  /** The blob's object id, in hexadecimal. Equal ids mean equal content. */
  readonly oid: string;
  readonly branches: readonly string[];
  /** Left out when the previous index holds the path with this object id, or when it is skipped. */
  readonly content?: Uint8Array;
  /** It shall be in the index with its path alone, for this reason. */
  readonly skipped?: SkipReason;
  /** A linguist name; found from path and content when left out. */
  readonly language?: string;
  readonly symbols?: readonly SymbolSpan[];
}

/** Why a document is in the index with its path alone. */
export type SkipReason = "binary" | "too-large" | "left-out";

/** Where a file stands in the ranking, whatever it contains. */
export type FileCategory = "ordinary" | "test" | "vendored" | "generated" | "skipped";

export interface DocumentInfo {
  readonly document: number;
  readonly path: string;
  readonly oid: string;
  readonly branches: readonly string[];
  readonly language: string;
  readonly category: FileCategory;
  readonly bytes: number;
  readonly lines: number;
  readonly skipped?: SkipReason;
}
