/**
 * Zoekt's JSON, as its clients expect it: field for field, with bytes in base64. What it has no word for (which repositories did not answer, and why) is added
 * in fields that its clients do not know. `zoekt-json.ts` writes it.
 */
import type { SymbolInfo } from "../engine/index.ts";
import type { AnsweringRepository } from "../search/search-request.ts";
import { commitOf } from "../repository.ts";
import type { FleetAnswer, FoundFile } from "./gather.ts";
import type { LineApart, Place } from "./lines-apart.ts";
import type { ZoektOptions } from "./zoekt-request.ts";

const shardMatchesMax = 100_000;

/** What zoekt looks for at most in one shard, when it is told how many documents are shown. */
export function shardMatches({
  ShardMaxMatchCount,
  ShardRepoMaxMatchCount,
  MaxDocDisplayCount,
}: ZoektOptions): number {
  // A repository is one shard here: whichever is said first ends it.
  const asked = Math.min(ShardRepoMaxMatchCount || Infinity, ShardMaxMatchCount || Infinity);
  if (asked < Infinity) return asked;
  return MaxDocDisplayCount ? Math.max(shardMatchesMax, MaxDocDisplayCount) : shardMatchesMax;
}

/** What zoekt calls matches: lines where it shows lines, and matches where it shows chunks. */
export function matchCount(
  { lines, matches }: Pick<FleetAnswer["counts"], "lines" | "matches">,
  { ChunkMatches }: ZoektOptions,
): number {
  return ChunkMatches === true ? matches : lines;
}

/** All but the files. */
export function zoektTotals(
  answer: FleetAnswer,
  options: ZoektOptions,
  durationMs: number,
): Record<string, unknown> {
  const { counts, missing, limits, repositories } = answer;
  // Of a fleet of thousands few have something to link to.
  const shown = new Map(answer.files.map(({ repository }) => [repository.name, repository]));
  return {
    ContentBytesLoaded: counts.bytesScanned,
    IndexBytesLoaded: 0,
    Crashes: missing.length,
    Duration: Math.round(durationMs * 1e6),
    FileCount: counts.files,
    ShardFilesConsidered: counts.documents,
    FilesConsidered: counts.documentsScanned,
    FilesLoaded: counts.documentsScanned,
    FilesSkipped: 0,
    ShardsScanned: repositories.length,
    ShardsSkipped: counts.notWaitedFor,
    ShardsSkippedFilter: counts.leftOut,
    MatchCount: matchCount(counts, options),
    NgramMatches: 0,
    NgramLookups: 0,
    Wait: 0,
    MatchTreeConstruction: 0,
    MatchTreeSearch: Math.round(durationMs * 1e6),
    RegexpsConsidered: 0,
    FlushReason: 0,
    RepoURLs: Object.fromEntries([...shown].map(([name, each]) => [name, fileTemplate(each)])),
    LineFragments: Object.fromEntries([...shown.keys()].map((name) => [name, "#L{{.LineNumber}}"])),
    Partial: missing.length > 0 || limits.length > 0,
    Missing: missing.map(({ repository, code, why }) => ({ Repository: repository, Code: code, Why: why })),
    Limits: limits.map(({ repository, why }) => ({ Repository: repository, Why: why })),
  };
}

/** A file without its matches. What zoekt leaves out when it is empty is left out: some of its clients take no null there. */
export function fileHead({ file, repository }: FoundFile, options: ZoektOptions): Record<string, unknown> {
  const version =
    repository.heads.find(({ branch }) => file.branches.includes(branch))?.commit ??
    commitOf(repository.heads);
  return {
    FileName: file.path,
    Repository: repository.name,
    Version: version,
    Language: file.language,
    Branches: file.branches,
    Score: options.UseBM25Scoring === true ? file.score : fullScore(file, repository),
    ...(file.debug === undefined ? {} : { Debug: file.debug }),
    RepositoryPriority: repository.rank,
    RepositoryID: repository.id,
    Checksum: Buffer.from(file.oid, "hex").subarray(0, 8).toString("base64"),
  };
}

/** So that who gets answers one by one can put files in order by this alone: first how well they match, then the rank of their repositories, then the shorter path. */
function fullScore({ score, path }: FoundFile["file"], { rank }: FoundFile["repository"]): number {
  return score * 10_000_000 + rank * 100 + 10 / (1 + path.length);
}

/** A line without its text, what is around it, and the places that matched. */
export function lineHead(match: LineApart, score: number): Record<string, unknown> {
  return {
    LineStart: match.start,
    LineEnd: match.end,
    LineNumber: match.line,
    FileName: false,
    Score: score,
    DebugScore: match.debug ?? "",
  };
}

export function fragment({ start, end, symbol }: Place, lineStart: number): Record<string, unknown> {
  return {
    LineOffset: start.offset - lineStart,
    Offset: start.offset,
    MatchLength: end.offset - start.offset,
    SymbolInfo: symbolInfo(symbol),
  };
}

export function symbolInfo(symbol: SymbolInfo | undefined): Record<string, string> | null {
  if (!symbol) return null;
  return { Sym: symbol.name, Kind: symbol.kind, Parent: symbol.parent, ParentKind: symbol.parentKind };
}

/** A match in the name of a file is a line that is the name. */
export function pathMatch({ path, pathRanges, pathScore = 0 }: FoundFile["file"]): Record<string, unknown> {
  return {
    Line: Buffer.from(path).toString("base64"),
    LineStart: 0,
    LineEnd: 0,
    LineNumber: 0,
    Before: null,
    After: null,
    FileName: true,
    Score: pathScore,
    DebugScore: "",
    LineFragments: pathRanges.map(({ start, end }) => ({
      LineOffset: start,
      Offset: start,
      MatchLength: end - start,
      SymbolInfo: null,
    })),
  };
}

/** Where a file can be looked at, for servers that show files as most do. */
export function fileTemplate({ url }: Pick<AnsweringRepository, "url">): string {
  if (!/^https?:/.test(url)) return "";
  return `${url.replace(/\.git$/, "")}/blob/{{.Version}}/{{.Path}}`;
}
