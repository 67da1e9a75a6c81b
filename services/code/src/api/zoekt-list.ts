/** Zoekt's list of repositories, from what the catalogue says of them. */
import type { RepositoryStatus } from "../catalogue-shard.ts";
import { fileTemplate } from "./zoekt.ts";

/** Zoekt's numbers for the formats that its clients read. */
const FORMAT = { IndexFormatVersion: 16, IndexFeatureVersion: 12, IndexMinReaderVersion: 10 } as const;
const REPOS = 0;
const REPOS_MAP = 2;

type ListField = typeof REPOS | typeof REPOS_MAP;

/** Throws RangeError for one that there is not. */
export function fieldOf(asked = REPOS): ListField {
  if (asked === REPOS || asked === REPOS_MAP) return asked;
  throw new RangeError(`Opts.Field is ${REPOS} (Repos) or ${REPOS_MAP} (ReposMap), not ${asked}`);
}

export function zoektList(
  rows: readonly RepositoryStatus[],
  field: ListField,
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
  // The one that was not asked for is empty, not null.
  return {
    Repos: field === REPOS_MAP ? [] : repos.map(({ row, stats }) => entry(row, stats)),
    ReposMap: field === REPOS_MAP ? Object.fromEntries(rows.map((row) => [row.id, mapEntry(row)])) : {},
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
    // Only the sum says how many there are.
    Repos: 0,
    Shards: row.replicas.filter(({ node }) => node !== undefined).length,
    Documents: index?.documents ?? 0,
    // What it takes besides its content.
    IndexBytes: Math.max(0, (index?.memoryBytes ?? 0) - (index?.contentBytes ?? 0)),
    ContentBytes: index?.contentBytes ?? 0,
    NewLinesCount: index?.lines ?? 0,
    DefaultBranchNewLinesCount: index?.defaultBranchLines ?? index?.lines ?? 0,
    OtherBranchesNewLinesCount: index?.otherBranchesLines ?? 0,
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
      HasSymbols: index?.symbols ?? false,
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
    HasSymbols: indexOf(row)?.symbols ?? false,
    Branches: branchesOf(row),
    IndexTimeUnix: Math.floor((indexOf(row)?.indexedAt ?? 0) / 1_000),
  };
}
