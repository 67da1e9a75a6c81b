/**
 * Filters as parts of the query's text: what is clicked is written into the query, where it can be read, edited and shared. It knows of the language only what
 * it writes itself; a filter that somebody wrote in another way stays as it is.
 */

/** A repository by its whole name. */
export function repositoryFilter(name: string): string {
  return `repo:^${expression(name)}$`;
}

export function languageFilter(name: string): string {
  return `lang:${quoted(name)}`;
}

/** A folder from the top of a repository, with its slash; "" is the top itself. */
export function folderFilter(folder: string): string {
  return folder === "" ? "file:^[^/]+$" : `file:^${expression(folder)}`;
}

/** A file by its whole path. */
export function fileFilter(path: string): string {
  return `file:^${expression(path)}$`;
}

/** The same two for a query in literal mode, where there is no saying that a name is whole. */
export function literalFilters(repository: string, path: string): string {
  return `repo:${quoted(repository)} file:${quoted(path)}`;
}

export function hasFilter(query: string, filter: string): boolean {
  return words(query).includes(filter);
}

/** Puts the filter at the end, or takes it away. What is left keeps its spaces, apart from those beside the filter. */
export function toggleFilter(query: string, filter: string): string {
  if (!hasFilter(query, filter)) return query.trim() === "" ? filter : `${query.trim()} ${filter}`;
  let left = query;
  for (let at = find(left, filter); at >= 0; at = find(left, filter))
    left = `${left.slice(0, at).trimEnd()} ${left.slice(at + filter.length).trimStart()}`.trim();
  return left;
}

/** Where the filter stands as a word of its own. */
function find(query: string, filter: string): number {
  for (let at = query.indexOf(filter); at >= 0; at = query.indexOf(filter, at + 1)) {
    const before = query[at - 1] ?? " ";
    const after = query[at + filter.length] ?? " ";
    if (/\s/.test(before) && /\s/.test(after)) return at;
  }
  return -1;
}

function words(query: string): readonly string[] {
  return query.match(/(?:"(?:\\.|[^"])*"|\\.|\S)+/g) ?? [];
}

/** A regular expression that matches just this text, as one word of a query. */
function expression(text: string): string {
  return quoted(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`), text);
}

/** Quotes what would otherwise be several words. `plain` decides it, before backslashes came in. */
function quoted(text: string, plain = text): string {
  return /[\s"]/.test(plain) ? `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"` : text;
}
