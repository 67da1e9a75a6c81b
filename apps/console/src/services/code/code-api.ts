/** What the gateway answers about code, as this page uses it: the names are zoekt's, because the protocol is. */
import { events } from "../../api/event-stream.ts";
import { get, type Query } from "../../api/request.ts";

/** What somebody wants to find. Everything of it stands in the page's address. */
export interface Question {
  readonly text: string;
  /** Patterns are text, not regular expressions. */
  readonly literal: boolean;
  readonly matchCase: boolean;
}

interface Fragment {
  /** In bytes from the beginning of the line. */
  readonly LineOffset: number;
  readonly MatchLength: number;
}

export interface LineMatch {
  /** Base64. */
  readonly Line: string;
  readonly LineNumber: number;
  /** The line is the file's name. */
  readonly FileName: boolean;
  readonly LineFragments: readonly Fragment[] | null;
}

export interface FoundFile {
  readonly FileName: string;
  readonly Repository: string;
  readonly Version: string;
  readonly Language: string;
  readonly Score: number;
  readonly LineMatches: readonly LineMatch[] | null;
}

export interface Facet {
  readonly Name: string;
  readonly Files: number;
}

export interface Facets {
  readonly Repositories: readonly Facet[];
  readonly Languages: readonly Facet[];
  readonly Folders: readonly Facet[];
  readonly Exact: boolean;
}

export type SearchEvent =
  | { readonly kind: "begin"; readonly Asked: number; readonly LeftOut: number; readonly Problem: string }
  | {
      readonly kind: "files";
      readonly Repository: string;
      readonly FileCount: number;
      readonly MatchCount: number;
      readonly Files: readonly FoundFile[];
      readonly Partial: string;
      readonly Stale: string;
    }
  | { readonly kind: "missing"; readonly Repository: string; readonly Code: string; readonly Why: string }
  | {
      readonly kind: "end";
      readonly FileCount: number;
      readonly MatchCount: number;
      /** Nanoseconds. */
      readonly Duration: number;
      readonly Facets?: Facets;
    }
  | { readonly kind: "error"; readonly Error: string };

export interface SearchLimits {
  readonly filesMax: number;
  readonly matchesMax: number;
  readonly facets?: boolean;
}

/** A search, each repository's answer as it comes. Aborting ends it in the fleet as well. */
export function search(
  { text, literal, matchCase }: Question,
  { filesMax, matchesMax, facets = false }: SearchLimits,
  signal: AbortSignal,
): AsyncGenerator<SearchEvent, void> {
  // At the end, so that places in the query stay what they are.
  const Q = matchCase ? `${text} case:yes` : text;
  const body = {
    Q,
    Opts: {
      MaxDocDisplayCount: filesMax,
      MaxMatchDisplayCount: matchesMax,
      Facets: facets,
      ...(literal ? { Literal: true } : {}),
    },
  };
  return events<SearchEvent>("/v1/code/stream", { body, signal });
}

export interface CodeSymbol {
  readonly Sym: string;
  readonly Kind: string;
  readonly Parent: string;
  readonly Line: number;
}

export interface CodeFile {
  readonly Repository: string;
  readonly Version: string;
  readonly FileName: string;
  readonly Language: string;
  readonly Branches: readonly string[];
  /** Base64. */
  readonly Content: string;
  readonly Skipped: string;
  readonly Symbols: readonly CodeSymbol[];
}

export function readFile(repository: string, path: string, signal: AbortSignal): Promise<CodeFile> {
  return get<CodeFile>("/v1/code/print", { r: repository, f: path }, signal);
}

export interface RepositoryRow {
  readonly id: number;
  readonly name: string;
  readonly url: string;
  readonly state: "active" | "resting";
  readonly reason: string;
  readonly pinned: boolean;
  readonly demanded?: boolean;
  readonly replicas: readonly {
    readonly node?: string;
    readonly index?: {
      readonly heads: readonly { readonly branch: string; readonly commit: string }[];
      readonly indexedAt: number;
      readonly memoryBytes: number;
      readonly documents: number;
      readonly lines: number;
      readonly problem?: { readonly code: string; readonly message: string };
    };
  }[];
}

export interface RepositoryPage {
  readonly repositories: readonly RepositoryRow[];
  readonly next?: number;
  readonly total: number;
}

export function listRepositories(query: Query, signal: AbortSignal): Promise<RepositoryPage> {
  return get<RepositoryPage>("/v1/code/repositories", query, signal);
}
