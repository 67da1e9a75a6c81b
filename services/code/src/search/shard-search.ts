/**
 * Searches one index for one request: what the query says of the repository is settled, `type:repo` is answered, the engine does the rest, and the answer is kept
 * below the size of a frame.
 */
import { bytesOfFile, type CodeIndex, type FileMatch } from "../engine/index.ts";
import { simplify, specialiser, type Query, type RepositoryFacts, type TextMatcher } from "../query/index.ts";
import { facetFilesMax, facetsOf } from "./facets.ts";
import type { SearchRequest, ShardAnswer } from "./search-request.ts";
import { translate } from "./translate.ts";

/** A frame between nodes takes 16 MiB; what is larger is cut, and says so. */
const answerBytesMax = 8 << 20;

export async function searchShard(
  index: CodeIndex,
  facts: RepositoryFacts,
  { query, options }: SearchRequest,
  matcher: TextMatcher,
  signal: AbortSignal,
): Promise<Pick<ShardAnswer, "files" | "counts" | "partial" | "facets">> {
  const { timeCapMs } = options;
  const own = specialiser(query, matcher)(facts);
  const settled = simplify(await answerRepositories(index, own, timeCapMs, signal));
  if (settled.kind === "const" && !settled.value) return NOTHING;
  const { filesShownMax, matchesShownMax, matchesMax, contextLines, whole, facets = false } = options;
  const result = await index.search(translate(settled), {
    timeCapMs,
    signal,
    bytesShownMax: answerBytesMax,
    // Facets are of more files than are shown.
    ...(facets ? { filesListedMax: Math.max(filesShownMax ?? 0, facetFilesMax) } : {}),
    ...(matchesMax === undefined ? {} : { matchesMax }),
    ...(filesShownMax === undefined ? {} : { filesShownMax }),
    ...(matchesShownMax === undefined ? {} : { matchesShownMax }),
    ...(contextLines === undefined ? {} : { contextLines }),
    ...(whole === undefined ? {} : { whole }),
  });
  const { files, cut } = bounded(result.files);
  const partial = cut ? "answer-bytes" : result.partial;
  return {
    files,
    counts: result.counts,
    ...(partial === undefined ? {} : { partial }),
    ...(facets ? { facets: facetsOf([...result.files, ...(result.listed ?? [])], result.counts.files) } : {}),
  };
}

const NOTHING: Pick<ShardAnswer, "files" | "counts"> = {
  files: [],
  counts: { files: 0, lines: 0, matches: 0, documents: 0, documentsScanned: 0, bytesScanned: 0 },
};

/** `type:repo` inside a larger query is true for the whole repository, or for nothing of it. */
async function answerRepositories(
  index: CodeIndex,
  query: Query,
  timeCapMs: number,
  signal: AbortSignal,
): Promise<Query> {
  const inside = (child: Query): Promise<Query> => answerRepositories(index, child, timeCapMs, signal);
  switch (query.kind) {
    case "and":
    case "or":
      return { kind: query.kind, children: await Promise.all(query.children.map(inside)) };
    case "not":
      return { kind: "not", child: await inside(query.child) };
    case "type": {
      const child = await inside(query.child);
      if (query.type !== "repo") return { ...query, child };
      const { counts } = await index.search(translate(simplify(child)), {
        timeCapMs,
        signal,
        matchesMax: 1,
        filesShownMax: 1,
      });
      return { kind: "const", value: counts.files > 0 };
    }
    default:
      return query;
  }
}

/** Counts more than `bytesShownMax` does, so what that left out is always told. */
function bounded(files: readonly FileMatch[]): { files: readonly FileMatch[]; cut: boolean } {
  let bytes = 0;
  for (const [i, file] of files.entries()) {
    bytes += bytesOfFile(file);
    if (bytes > answerBytesMax) return { files: files.slice(0, i), cut: true };
  }
  return { files, cut: false };
}
