/** Zoekt's list of repositories, from what the catalogue says of them. */
import { z } from "zod";
import type { RepositoryStatus } from "../catalogue-shard.ts";
import { fileTemplate } from "./zoekt.ts";

export const ZoektList = z.looseObject({
  Q: z.string().default(""),
  Opts: z.looseObject({ Field: z.int().optional() }).nullish(),
});

/** Zoekt's numbers for the formats that its clients read. */
const FORMAT = { IndexFormatVersion: 16, IndexFeatureVersion: 12, IndexMinReaderVersion: 10 } as const;
const REPOS_MAP = 2;

export function zoektList(
  rows: readonly RepositoryStatus[],
  field: number | undefined,
  missing: number,
): Record<string, unknown> {
  const total = {
    Repos: rows.length,
    Shards: 0,
    Documents: 0,
    IndexBytes: 0,
    ContentBytes: 0,
    NewLinesCount: 0,
    DefaultBranchNewLinesCount: 0,
    OtherBranchesNewLinesCount: 0,
  };
  const repos = rows.map((row) => {
    const stats = statsOf(row);
    for (const name of Object.keys(stats) as (keyof typeof stats)[])
      if (name !== "Repos") total[name] += stats[name];
    return { row, stats };
  });
  return {
    Repos: field === REPOS_MAP ? null : repos.map(({ row, stats }) => entry(row, stats)),
    ReposMap: field === REPOS_MAP ? Object.fromEntries(rows.map((row) => [row.id, mapEntry(row)])) : null,
    Crashes: missing,
    Stats: total,
  };
}

function indexOf(row: RepositoryStatus): RepositoryStatus["replicas"][number]["index"] {
  return row.replicas.find(({ index }) => index !== undefined)?.index;
}

function statsOf(row: RepositoryStatus) {
  const index = indexOf(row);
  return {
    Repos: 1,
    Shards: row.replicas.filter(({ node }) => node !== undefined).length,
    Documents: index?.documents ?? 0,
    IndexBytes: index?.memoryBytes ?? 0,
    ContentBytes: index?.contentBytes ?? 0,
    NewLinesCount: index?.lines ?? 0,
    DefaultBranchNewLinesCount: index?.lines ?? 0,
    OtherBranchesNewLinesCount: 0,
  };
}

function branchesOf(row: RepositoryStatus): unknown {
  return (indexOf(row)?.heads ?? []).map(({ branch, commit }) => ({ Name: branch, Version: commit }));
}

function entry(row: RepositoryStatus, stats: ReturnType<typeof statsOf>): Record<string, unknown> {
  const index = indexOf(row);
  const time = new Date(index?.indexedAt ?? 0).toISOString();
  const flag = (value: boolean): string => (value ? "1" : "0");
  return {
    Repository: {
      TenantID: 0,
      ID: row.id,
      Name: row.name,
      URL: row.url,
      Metadata: row.metadata,
      Source: "",
      Branches: branchesOf(row),
      SubRepoMap: null,
      CommitURLTemplate: "",
      FileURLTemplate: fileTemplate(row),
      LineFragmentTemplate: "#L{{.LineNumber}}",
      RawConfig: { archived: flag(row.archived), fork: flag(row.fork), public: flag(row.public) },
      Rank: row.rank,
      IndexOptions: "",
      HasSymbols: true,
      Tombstone: false,
      LatestCommitDate: time,
    },
    IndexMetadata: {
      ...FORMAT,
      IndexTime: time,
      PlainASCII: false,
      LanguageMap: null,
      ZoektVersion: "",
      ID: "",
    },
    Stats: stats,
    State: row.state,
    Problem: index?.problem?.message ?? (row.state === "resting" ? row.reason : ""),
  };
}

function mapEntry(row: RepositoryStatus): Record<string, unknown> {
  return {
    HasSymbols: true,
    Branches: branchesOf(row),
    IndexTimeUnix: Math.floor((indexOf(row)?.indexedAt ?? 0) / 1_000),
  };
}
