/**
 * A search, as a tree. It is plain data: it travels between nodes as it is, and tools may build one without writing text. What its atoms mean for a file
 * is for the engine to say; what they mean for a repository is said in `repository-match.ts`.
 */
export type Query =
  | { readonly kind: "and"; readonly children: readonly Query[] }
  | { readonly kind: "or"; readonly children: readonly Query[] }
  | { readonly kind: "not"; readonly child: Query }
  /** What is listed: matches in files, names of files, or repositories that have a match. */
  | { readonly kind: "type"; readonly type: ResultType; readonly child: Query }
  | TextAtom
  /** The text must lie within the name of a symbol. */
  | { readonly kind: "symbol"; readonly expression: TextAtom }
  /** A regular expression on the repository's name. */
  | { readonly kind: "repo"; readonly pattern: string }
  | { readonly kind: "repo-ids"; readonly ids: readonly number[] }
  /** Part of a branch's name, or all of it; `HEAD` is the default branch. */
  | { readonly kind: "branch"; readonly pattern: string; readonly exact: boolean }
  | { readonly kind: "language"; readonly language: string }
  | { readonly kind: "config"; readonly field: ConfigField; readonly value: boolean }
  /** A regular expression on a value of the repository's metadata. */
  | { readonly kind: "meta"; readonly field: string; readonly pattern: string }
  | { readonly kind: "const"; readonly value: boolean };

/** Text to be found in content, in file names, or in either. */
export interface TextAtom {
  readonly kind: "substring" | "regex";
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly scope: TextScope;
}

export type TextScope = "either" | "content" | "file";
export type ResultType = "filematch" | "filename" | "repo";
export type ConfigField = "archived" | "fork" | "public";

/** A query that every file meets. */
export const EVERYTHING: Query = { kind: "const", value: true };
export const NOTHING: Query = { kind: "const", value: false };
