/** What the tools of coding agents answer: text that is bounded, counts that are of everything, and what an answer lacks before all else, because the end may be cut off. */
import { escapeRegex } from "../query/index.ts";
import { checkedCall, contextMax, resultsMax } from "./mcp-tools.ts";
import { oneLine } from "./one-line.ts";

export type McpApi = (route: string, input?: { query?: unknown; body?: unknown }) => Promise<unknown>;

/** What one answer has at most: more than that helps no agent. */
const answerCharactersMax = 24_000;
const lineCharactersMax = 500;
const repositoriesMax = 200;
const resultsUsual = 30;

/** Throws with what is wrong. */
export async function callTool(name: string, given: Record<string, unknown>, api: McpApi): Promise<string> {
  const args = checkedCall(name, given);
  if (name === "search_code") return bounded(await searchCode(args, api));
  return bounded(await (name === "read_file" ? readFile(args, api) : listRepositories(args, api)));
}

interface ShownLine {
  readonly LineNumber: number;
  readonly Line: string;
  readonly Before: string | null;
  readonly After: string | null;
  readonly FileName: boolean;
}

interface ZoektAnswer {
  readonly Result: {
    readonly MatchCount: number;
    readonly FileCount: number;
    /** Repositories that were searched. */
    readonly ShardsScanned?: number;
    readonly Files: readonly {
      readonly Repository: string;
      readonly FileName: string;
      readonly Version: string;
      readonly LineMatches: readonly ShownLine[];
    }[];
    readonly Missing: readonly { Repository: string; Why: string }[];
    readonly Limits: readonly { Repository: string; Why: string }[];
  };
}

async function searchCode(args: Record<string, unknown>, api: McpApi): Promise<string> {
  const { pattern, regex, repo, file, lang, branch, symbol, case_sensitive: sensitive } = args;
  if (typeof pattern !== "string" || pattern === "")
    throw new Error("pattern is missing: say what to look for");
  const text = quoted(regex === true ? pattern : escapeRegex(pattern));
  const query = [
    symbol === true ? `sym:${text}` : text,
    ...(typeof repo === "string" ? [`repo:${quoted(escapeRegex(repo))}`] : []),
    ...(typeof file === "string" ? [`file:${quoted(escapeRegex(file))}`] : []),
    ...(typeof lang === "string" ? [`lang:${quoted(lang)}`] : []),
    ...(typeof branch === "string" ? [`branch:${quoted(branch)}`] : []),
    ...(typeof sensitive === "boolean" ? [`case:${sensitive ? "yes" : "no"}`] : []),
  ].join(" ");
  const shown = Math.min(resultsMax, Math.max(1, Number(args["max_results"] ?? resultsUsual)));
  const { Result } = (await api("search", {
    body: {
      Q: query,
      Opts: {
        MaxDocDisplayCount: shown,
        MaxMatchDisplayCount: shown,
        NumContextLines: Math.min(contextMax, Number(args["context"] ?? 0)),
      },
    },
  })) as ZoektAnswer;
  const lines = [`${Result.MatchCount} matches in ${Result.FileCount} files`, ...lacking(Result)];
  if (Result.FileCount === 0) lines.push(...hints(args, Result));
  // Lines are counted, as they are shown.
  const matches = Result.Files.reduce((sum, { LineMatches }) => sum + LineMatches.length, 0);
  if (matches < Result.MatchCount)
    lines.push(
      `The best ${matches} are shown, of ${Result.Files.length} files: narrow with repo, file or lang, or ask for more with max_results (${resultsMax} at most)`,
    );
  for (const each of Result.Files) {
    lines.push("", `${each.Repository} ${oneLine(each.FileName)} (commit ${each.Version.slice(0, 12)})`);
    lines.push(...shownLines(each.LineMatches));
  }
  return lines.join("\n");
}

function lacking({ Missing, Limits }: ZoektAnswer["Result"]): string[] {
  return [
    ...Missing.map(({ Repository, Why }) => `PARTIAL: ${Repository} did not answer: ${oneLine(Why)}`),
    ...Limits.map(
      ({ Repository, Why }) => `PARTIAL: ${Repository === "" ? "" : `${Repository}: `}${oneLine(Why)}`,
    ),
  ];
}

/** Why there may be nothing. */
function hints(args: Record<string, unknown>, { ShardsScanned, Missing }: ZoektAnswer["Result"]): string[] {
  if (ShardsScanned === 0 && Missing.length === 0)
    return [
      typeof args["repo"] === "string"
        ? "No repository has such a name: list_repositories shows what there is"
        : "There is no repository to search: list_repositories shows what there is",
    ];
  const narrow = ["file", "lang", "branch", "symbol", "case_sensitive"].filter(
    (name) => args[name] !== undefined && args[name] !== false,
  );
  return narrow.length === 0 ? [] : [`Nothing has it: try again without ${narrow.join(" or ")}`];
}

/** From the top of the file, each line once, whichever match it is around. The best come first in an answer. */
function shownLines(matches: readonly ShownLine[]): string[] {
  const lines = new Map<number, { readonly text: string; readonly found: boolean }>();
  for (const match of matches) {
    if (match.FileName) continue;
    const before = decoded(match.Before);
    // A match may go on over several lines; what is empty is a line too.
    const found = match.Line === "" ? [""] : decoded(match.Line);
    const first = match.LineNumber - before.length;
    for (const [i, text] of [...before, ...found, ...decoded(match.After)].entries()) {
      const isFound = i >= before.length && i < before.length + found.length;
      if (isFound || !lines.has(first + i)) lines.set(first + i, { text, found: isFound });
    }
  }
  return [...lines]
    .sort(([a], [b]) => a - b)
    .map(([line, { text, found }]) => `${line}${found ? ":" : "-"} ${text.slice(0, lineCharactersMax)}`);
}

function decoded(text: string | null): string[] {
  return text ? linesOf(Buffer.from(text, "base64").toString("utf8")) : [];
}

async function readFile(args: Record<string, unknown>, api: McpApi): Promise<string> {
  const { repo, path, branch, start_line: from = 1, end_line: to } = args;
  if (typeof repo !== "string" || typeof path !== "string")
    throw new Error("repo and path are needed: both as search_code shows them");
  const query = { r: repo, f: path, ...(typeof branch === "string" ? { b: branch } : {}) };
  const file = (await api("print", { query })) as { Version: string; Content: string; Skipped?: string };
  const place = `${repo} ${oneLine(path)} (commit ${file.Version.slice(0, 12)})`;
  if (file.Skipped) return `${place} has no text here: ${file.Skipped}`;
  const lines = linesOf(Buffer.from(file.Content, "base64").toString("utf8"));
  const first = Math.max(1, Number(from));
  const last = Math.min(lines.length, Number(to ?? lines.length));
  if (first > last)
    return `${place} has ${lines.length} lines, and none from ${first} to ${Number(to ?? last)}`;
  const shown = lines.slice(first - 1, last).map((line, i) => `${first + i}: ${line}`);
  return [`${place}, lines ${first} to ${last} of ${lines.length}`, ...shown].join("\n");
}

/** What follows the last line break is a line when there is something. */
function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

async function listRepositories({ name }: Record<string, unknown>, api: McpApi): Promise<string> {
  const Q = typeof name === "string" && name !== "" ? `repo:${quoted(escapeRegex(name))}` : "";
  const { List } = (await api("list", { body: { Q } })) as {
    List: {
      Repos: {
        Repository: { Name: string; Branches: { Name: string; Version: string }[] | null };
        Problem: string;
      }[];
    };
  };
  const lines = List.Repos.slice(0, repositoriesMax).map(({ Repository: { Name, Branches }, Problem }) => {
    const at = (Branches ?? [])
      .map(({ Name: branch, Version }) => `${branch}@${Version.slice(0, 12)}`)
      .join(" ");
    return `${Name} ${at}${Problem === "" ? "" : ` (${oneLine(Problem)})`}`;
  });
  const left = List.Repos.length - lines.length;
  return [
    `${List.Repos.length} repositories`,
    ...(left > 0 ? [`The first ${lines.length} are shown: give a part of the name`] : []),
    ...lines,
  ].join("\n");
}

/** As one word of the query language, whatever it contains. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function bounded(text: string): string {
  if (text.length <= answerCharactersMax) return text;
  return `${text.slice(0, answerCharactersMax)}\n… cut at ${answerCharactersMax} characters: ask for less, or for certain lines`;
}
