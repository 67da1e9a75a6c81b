/** Searches over HTTP: zoekt's JSON in one answer, a stream of what comes as it comes, and the plain search that people and tools use. */
import { HttpAnswer, route, type JsonText, type RouteCall } from "@keelson/runtime";
import { z } from "zod";
import { QueryError, type Query } from "../query/index.ts";
import { FacetSum } from "../search/facets.ts";
import type { ShardAnswer } from "../search/search-request.ts";
import { searchFleet, searchPacked, unpacked, type FleetSearch } from "./fleet-search.ts";
import { filesShownMax, gather, type FleetAnswer } from "./gather.ts";
import { shownSize, type ShownAs } from "./shown-size.ts";
import { asRead } from "./as-read.ts";
import { matchCount, shardMatches } from "./zoekt.ts";
import { zoektAnswer, zoektItem } from "./zoekt-json.ts";
import { readSearch, type ZoektOptions } from "./zoekt-request.ts";
import { refusing, zoektRefusal } from "./refusal.ts";
import { understand } from "./understand.ts";

const timeoutMs = 30_000;
const patienceMs = 500;
/** Room for the numbers of all repositories that a fleet can have (`RepoIDs`); queries have a bound of their own. */
const bodyBytesMax = 1 << 20;
/** Of the time, for searching: what remains is for putting the answer together, which takes seconds where many large ones are asked for at once. */
const searchShare = 0.8;

interface Wanted {
  readonly search: FleetSearch;
  readonly options: ZoektOptions;
}

/** Throws QueryError, and RangeError for what is no search at all. */
function wanted(body: unknown, call: RouteCall): Wanted {
  const { Q, RepoIDs, Opts } = readSearch(body);
  if (Q.trim() === "") throw new RangeError("Q is empty: say what to search for");
  const options = Opts ?? {};
  const understood = understand(Q, options.Literal);
  // An empty list is a list: whoever may see nothing finds nothing.
  const query: Query = RepoIDs
    ? { kind: "and", children: [{ kind: "repo-ids", ids: RepoIDs }, understood] }
    : understood;
  const asked = options.MaxWallTime ? options.MaxWallTime / 1e6 : Infinity;
  return {
    options,
    search: {
      query,
      timeoutMs: Math.max(1, Math.min(asked, call.timeoutMs * searchShare)),
      patienceMs,
      trace: call.trace,
      signal: call.signal,
      options: {
        matchesMax: options.EstimateDocCount ? 1 : shardMatches(options),
        filesShownMax: Math.min(options.MaxDocDisplayCount || filesShownMax, filesShownMax),
        matchesShownMax: options.MaxMatchDisplayCount || undefined,
        contextLines: options.NumContextLines,
        whole: options.Whole,
        bm25: options.UseBM25Scoring,
        explain: options.DebugScore,
        facets: options.Facets,
      },
    },
  };
}

export const search = route({
  verb: "POST",
  path: "/search",
  alsoAt: ["/api/search"],
  refusal: zoektRefusal,
  summary: "Search all repositories, with zoekt's request and answer",
  description:
    "Q is a query of zoekt's language; with Opts.Literal its patterns are text. The answer says in Partial, Missing and Limits what it lacks and why.",
  body: z.unknown(),
  answer: z.looseObject({ Result: z.unknown() }),
  scope: "read",
  mode: "read",
  limits: { bodyBytesMax, timeoutMs },
  to: {
    kind: "custom",
    async handle({ body }, call) {
      const startedAt = performance.now();
      return refusing(async () => {
        const { search: asked, options } = wanted(body, call);
        const events = searchFleet(call.access, asked);
        const answer = options.EstimateDocCount
          ? documentsOnly(await gather(events))
          : await gather(events, {
              filesMax: options.MaxDocDisplayCount || undefined,
              matchesMax: options.MaxMatchDisplayCount || undefined,
              matchesEnough: options.TotalMaxMatchCount || undefined,
              shownAs: shownAs(options),
            });
        const written = await zoektAnswer(answer, options, () => performance.now() - startedAt);
        return new HttpAnswer(written, {
          headers: partialHeader(answer.missing.length + answer.limits.length),
        });
      });
    },
  },
});

function shownAs({ ChunkMatches, NumContextLines = 0 }: ZoektOptions): ShownAs {
  return { linesApart: ChunkMatches !== true, contextLines: NumContextLines };
}

/** An estimate says in ShardFilesConsidered how many files there are to look at, and nothing of what is in them. */
function documentsOnly(answer: FleetAnswer): FleetAnswer {
  return { ...answer, files: [], limits: [], counts: { ...answer.counts, files: 0, matches: 0, lines: 0 } };
}

function partialHeader(lacking: number): Record<string, string> {
  return lacking > 0 ? { "keelson-partial": String(lacking) } : {};
}

export const stream = route({
  verb: "POST",
  path: "/stream",
  alsoAt: ["/api/stream"],
  refusal: zoektRefusal,
  summary: "Search all repositories, each answer as it comes",
  description:
    "Lines of JSON or server-sent events: one for each repository that answers or does not, and a last one with the counts. With Opts.Facets the last one counts files by repository, language and first folder. Opts.MaxDocDisplayCount is per repository. Close the connection to end the search.",
  body: z.unknown(),
  answer: z.looseObject({ kind: z.string() }),
  scope: "read",
  mode: "read",
  limits: { bodyBytesMax, timeoutMs },
  to: {
    kind: "custom",
    handle: ({ body }, call) => streamed(body, call),
  },
});

/** What one item of a stream may take as it is written: what one repository gives takes no more, unless a match goes on over many lines that are shown one by one. */
const itemBytesMax = 48 << 20;

/** The best files, as many as one item has room for, and why they may not be all. */
function fitting(
  { files, partial }: ShardAnswer,
  as: ShownAs,
): readonly [ShardAnswer["files"], ShardAnswer["partial"]] {
  let bytes = 0;
  const end = files.findIndex((file) => (bytes += shownSize(file, as)) > itemBytesMax);
  return end === -1 ? [files, partial] : [files.slice(0, end), partial ?? "answer-bytes"];
}

type StreamedItem = (Record<string, unknown> & { kind: string }) | JsonText;

/** What is wrong with the query is the last item, because the first has left by then. */
async function* streamed(body: unknown, call: RouteCall): AsyncGenerator<StreamedItem> {
  try {
    yield* found(wanted(body, call), call);
  } catch (error) {
    if (!(error instanceof QueryError || error instanceof RangeError)) throw error;
    yield { kind: "error", Error: error.message };
  }
}

async function* found(asked: Wanted, call: RouteCall): AsyncGenerator<StreamedItem> {
  const startedAt = performance.now();
  const facets = asked.options.Facets === true ? new FacetSum() : undefined;
  const totals = { FileCount: 0, MatchCount: 0, Answered: 0, Missing: 0, Partial: false };
  const events = asRead(searchPacked(call.access, asked.search), call.signal);
  for await (const event of events) {
    if (event.kind === "begin") {
      if (event.problem !== undefined) totals.Partial = true;
      yield { kind: "begin", Asked: event.asked, LeftOut: event.leftOut, Problem: event.problem ?? "" };
    } else if (event.kind === "missing") {
      totals.Missing++;
      totals.Partial = true;
      const { repository, code, why } = event.missing;
      yield { kind: "missing", Repository: repository, Code: code, Why: why };
    } else {
      const answer = await unpacked(event.answer);
      const { repository, counts, stale } = answer;
      const [files, partial] = fitting(answer, shownAs(asked.options));
      totals.Answered++;
      totals.FileCount += counts.files;
      totals.MatchCount += matchCount(counts, asked.options);
      if (partial !== undefined || stale !== undefined) totals.Partial = true;
      if (answer.facets) facets?.add(repository.name, counts.files, answer.facets);
      if (counts.files > 0 || partial !== undefined)
        yield zoektItem(
          {
            kind: "files",
            Repository: repository.name,
            Version: repository.heads[0]?.commit ?? "",
            FileCount: counts.files,
            MatchCount: matchCount(counts, asked.options),
            Partial: partial ?? "",
            Stale: stale ?? "",
          },
          files.map((file) => ({ file, repository })),
          asked.options,
        );
    }
  }
  yield {
    kind: "end",
    ...totals,
    Duration: Math.round((performance.now() - startedAt) * 1e6),
    ...(facets ? { Facets: facets.shown() } : {}),
  };
}
