/**
 * How the files that match spread over languages and folders, for a page that offers them as filters. Counted where the files are, because an answer shows only some of
 * them; put together by whoever asked. When more match than are looked at, it says so.
 */
import type { ListedFile } from "../engine/index.ts";

export interface Facets {
  /** Files by language; "" is a file whose language nobody knows. */
  readonly languages: Readonly<Record<string, number>>;
  /** Files by their first folder, with its slash; "" is the top of the repository. */
  readonly folders: Readonly<Record<string, number>>;
  /** False: more files match than were counted. */
  readonly exact: boolean;
}

interface Facet {
  readonly Name: string;
  readonly Files: number;
}

/** So many files of a repository are counted. */
export const facetFilesMax = 1_000;
/** Folders of one repository, and lines of each kind in the whole. The most frequent are kept. */
const foldersMax = 100;
const shownMax = 50;

export function facetsOf(files: readonly ListedFile[], matching: number): Facets {
  const languages = new Map<string, number>();
  const folders = new Map<string, number>();
  for (const { language, path } of files) {
    add(languages, language, 1);
    add(folders, path.slice(0, path.indexOf("/") + 1), 1);
  }
  return {
    languages: Object.fromEntries(languages),
    folders: Object.fromEntries(largest(folders, foldersMax)),
    exact: files.length >= matching && folders.size <= foldersMax,
  };
}

/** The facets of many repositories as one. */
export class FacetSum {
  readonly #repositories = new Map<string, number>();
  readonly #languages = new Map<string, number>();
  readonly #folders = new Map<string, number>();
  #exact = true;

  add(repository: string, files: number, { languages, folders, exact }: Facets): void {
    if (files > 0) add(this.#repositories, repository, files);
    for (const [name, count] of Object.entries(languages)) add(this.#languages, name, count);
    for (const [name, count] of Object.entries(folders)) add(this.#folders, name, count);
    this.#exact &&= exact;
  }

  /** Most files first, then by name. */
  shown(): Record<"Repositories" | "Languages" | "Folders", Facet[]> & { Exact: boolean } {
    const lines = (counts: ReadonlyMap<string, number>): Facet[] =>
      largest(counts, shownMax).map(([Name, Files]) => ({ Name, Files }));
    return {
      Repositories: lines(this.#repositories),
      Languages: lines(this.#languages),
      Folders: lines(this.#folders),
      Exact: this.#exact,
    };
  }
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

function largest(counts: ReadonlyMap<string, number>, max: number): [string, number][] {
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, max);
}
