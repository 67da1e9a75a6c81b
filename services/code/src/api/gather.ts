/** Puts the answers of many repositories together: best first, with exact counts, and with everything that is missing. */
import type { FileMatch } from "../engine/index.ts";
import type { AnsweringRepository } from "../search/search-request.ts";
import type { Missing, SearchEvent } from "./fleet-search.ts";

export interface FoundFile {
  readonly file: FileMatch;
  readonly repository: AnsweringRepository;
}

export interface FleetAnswer {
  readonly files: readonly FoundFile[];
  readonly repositories: readonly AnsweringRepository[];
  readonly missing: readonly Missing[];
  /** Why there may be more than is told, besides what is missing. */
  readonly limits: readonly { readonly repository: string; readonly why: string }[];
  readonly counts: {
    readonly asked: number;
    readonly leftOut: number;
    readonly files: number;
    readonly matches: number;
    readonly lines: number;
    readonly documents: number;
    readonly documentsScanned: number;
    readonly bytesScanned: number;
  };
}

const WHY: Readonly<Record<string, string>> = {
  "time-cap": "time ran out: allow more time, or ask for less",
  "matches-max": "it stopped at the greatest number of matches that was asked for",
  cancelled: "the search was cancelled",
  "answer-bytes": "the answer was too large: ask for fewer files",
};

/** So many times what is shown is kept before it is sorted and cut. */
const keptShare = 4;

export async function gather(
  events: AsyncIterable<SearchEvent>,
  limits: { readonly filesMax?: number | undefined; readonly matchesMax?: number | undefined } = {},
): Promise<FleetAnswer> {
  const filesMax = limits.filesMax ?? Infinity;
  const found: FoundFile[] = [];
  const repositories: AnsweringRepository[] = [];
  const missing: Missing[] = [];
  const limited: { repository: string; why: string }[] = [];
  const counts = {
    asked: 0,
    leftOut: 0,
    files: 0,
    matches: 0,
    lines: 0,
    documents: 0,
    documentsScanned: 0,
    bytesScanned: 0,
  };
  for await (const event of events) {
    if (event.kind === "missing") missing.push(event.missing);
    else if (event.kind === "begin") {
      counts.asked = event.asked;
      counts.leftOut = event.leftOut;
      if (event.problem !== undefined) missing.push({ repository: "", code: "LIST_OLD", why: event.problem });
    } else {
      const { answer } = event;
      const { repository, files, partial, stale } = answer;
      repositories.push(repository);
      for (const file of files) found.push({ file, repository });
      // What cannot be shown any more is not kept until the last repository has answered.
      if (found.length > keptShare * filesMax) {
        found.sort(compare);
        found.length = filesMax;
      }
      if (partial !== undefined) limited.push({ repository: repository.name, why: WHY[partial] ?? partial });
      if (stale !== undefined)
        limited.push({ repository: repository.name, why: `its commit may be old: ${stale}` });
      for (const name of [
        "files",
        "matches",
        "lines",
        "documents",
        "documentsScanned",
        "bytesScanned",
      ] as const)
        counts[name] += answer.counts[name];
    }
  }
  // Answers come in any order; what is equal is put in the order of names and files, so that the same search shows the same.
  found.sort(compare);
  missing.sort((a, b) => (a.repository < b.repository ? -1 : 1));
  repositories.sort((a, b) => a.id - b.id);
  return { files: shown(found, limits), repositories, missing, limits: limited, counts };
}

function compare(a: FoundFile, b: FoundFile): number {
  return (
    b.file.score - a.file.score ||
    b.repository.rank - a.repository.rank ||
    a.repository.id - b.repository.id ||
    a.file.document - b.file.document
  );
}

function shown(
  found: readonly FoundFile[],
  {
    filesMax = Infinity,
    matchesMax = Infinity,
  }: { filesMax?: number | undefined; matchesMax?: number | undefined },
): FoundFile[] {
  const files: FoundFile[] = [];
  let left = matchesMax;
  for (const each of found.slice(0, Math.min(filesMax, found.length))) {
    if (left <= 0) break;
    const lines = each.file.lines.slice(0, left);
    left -= Math.max(1, lines.length);
    files.push(lines.length === each.file.lines.length ? each : { ...each, file: { ...each.file, lines } });
  }
  return files;
}
