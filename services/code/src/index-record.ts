/** What a holder tells the catalogue of what it has of a repository. Only puts it into words. */
import type { Current, Problem } from "./held-repository.ts";
import type { IndexRecord } from "./repository.ts";

const EMPTY = "it has no commits yet, or no branch that is wanted: it is served once there are some";

export function indexRecordOf(
  current: Current | undefined,
  told: {
    readonly node: string;
    readonly problem: Problem | undefined;
    readonly lastServedAt: number;
  },
): IndexRecord {
  const { index, heads = [], indexedAt = 0, buildMs = 0, how = "built", submodules = 0 } = current ?? {};
  const stats = index?.stats;
  const note = current && noteOf(current);
  return {
    v: 1,
    node: told.node,
    heads,
    indexedAt,
    buildMs,
    how,
    memoryBytes: stats?.memoryBytes ?? 0,
    contentBytes: stats?.contentBytes ?? 0,
    documents: stats?.documents ?? 0,
    lines: stats?.lines ?? 0,
    defaultBranchLines: stats?.defaultBranchLines ?? 0,
    otherBranchesLines: stats?.otherBranchesLines ?? 0,
    symbols: stats?.symbols ?? false,
    lastServedAt: told.lastServedAt,
    ...(submodules > 0 ? { submodules } : {}),
    ...(note === undefined ? {} : { note }),
    ...(told.problem ? { problem: told.problem } : {}),
  };
}

/** What people should know though nothing is wrong. */
function noteOf({ heads, submodules }: Pick<Current, "heads" | "submodules">): string | undefined {
  if (heads.length === 0) return EMPTY;
  if (submodules === 0) return undefined;
  return submodules === 1
    ? "1 submodule is not searched: add it as a repository of its own"
    : `${submodules} submodules are not searched: add them as repositories of their own`;
}
