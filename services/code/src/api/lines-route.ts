/**
 * Every line that a query finds in all repositories, as it is found: nothing ranked, nothing left out, and no more memory than a few pieces on the way. Repositories are first asked whether
 * they have anything at all, each node once; those that do give their lines one after another. Who reads slowly makes the search wait.
 */
import { JsonText, RouterError, route, type FleetAccess, type RouteCall } from "@keelson/runtime";
import { z } from "zod";
import type { Query } from "../query/index.ts";
import { shardOf } from "../repository.ts";
import type { AnsweringRepository, LinesBegin, LinesRequest } from "../search/search-request.ts";
import type { LinesEnd } from "../search/shard-lines.ts";
import { searchPacked } from "./fleet-search.ts";
import { refusing } from "./refusal.ts";
import { understand } from "./understand.ts";

const timeoutMs = 30_000;
const patienceMs = 500;
const wallMsDefault = 120_000;
const wallMsMax = 600_000;
/** A shard that moves before it has said anything is asked again where it went. */
const triesMax = 3;
const COMMA = 44;
const NEWLINE = 10;

export const lines = route({
  verb: "POST",
  path: "/lines",
  summary: "Every line that a query finds, as it is found",
  description:
    "Lines of JSON or server-sent events. `lines` items have matches of one repository at one commit: `path`, `line`, `text`, and in `ranges` the bytes of the line that match; of lines above 1 KiB a part, which begins at byte `from`. A file of which only the name matched has `pathRanges`. `repository` ends a repository and has its counts, `missing` says which did not answer, and `end` is the last.",
  body: z.strictObject({
    query: z.string().min(1).describe("of zoekt's language"),
    literal: z.boolean().default(false).describe("patterns are text"),
    wallMs: z
      .int()
      .min(1)
      .max(wallMsMax)
      .default(wallMsDefault)
      .describe("for each repository, its reader's time included; then it stops, and says so"),
  }),
  answer: z.looseObject({ kind: z.string() }),
  scope: "read",
  mode: "read",
  limits: { bodyBytesMax: 256 << 10, timeoutMs },
  to: {
    kind: "custom",
    async *handle({ body }, call) {
      const { query, literal, wallMs } = body;
      const understood = await refusing(() => Promise.resolve(understand(query, literal)));
      yield* found(understood, wallMs, call);
    },
  },
});

type Item = { readonly kind: string } & Readonly<Record<string, unknown>>;

async function* found(query: Query, wallMs: number, call: RouteCall): AsyncGenerator<Item | JsonText> {
  const startedAt = performance.now();
  const totals = { FileCount: 0, LineCount: 0, MatchCount: 0, Answered: 0, Missing: 0, Partial: false };
  const asked = {
    query,
    timeoutMs: call.timeoutMs,
    patienceMs,
    trace: call.trace,
    signal: call.signal,
    // Whether there is one.
    options: { matchesMax: 1, filesShownMax: 0 },
  };
  const repositories: AnsweringRepository[] = [];
  for await (const event of searchPacked(call.access, asked)) {
    if (event.kind === "begin") {
      const { asked: Asked, leftOut: LeftOut, problem } = event;
      if (problem !== undefined) totals.Partial = true;
      yield { kind: "begin", Asked, LeftOut, Problem: problem ?? "" };
    } else if (event.kind === "missing") {
      totals.Missing += 1;
      const { repository: Repository, code: Code, why: Why } = event.missing;
      yield { kind: "missing", Repository, Code, Why };
    } else {
      const { counts, partial, repository } = event.answer;
      totals.Answered += 1;
      // One that had too little time to say may have some.
      if (counts.files > 0 || (partial !== undefined && partial !== "matches-max"))
        repositories.push(repository);
    }
  }
  for (const repository of repositories) {
    try {
      for await (const item of ofRepository(call, repository, { query, timeCapMs: wallMs })) {
        if (!(item instanceof JsonText)) {
          totals.FileCount += item.FileCount;
          totals.LineCount += item.LineCount;
          totals.MatchCount += item.MatchCount;
          if (item.Partial !== "" || item.Stale !== "") totals.Partial = true;
        }
        yield item;
      }
    } catch (error) {
      if (!(error instanceof RouterError)) throw error;
      totals.Answered -= 1;
      totals.Missing += 1;
      yield { kind: "missing", Repository: repository.name, Code: error.code, Why: error.message };
    }
  }
  if (totals.Missing > 0) totals.Partial = true;
  yield { kind: "end", ...totals, Duration: Math.round((performance.now() - startedAt) * 1e6) };
}

interface RepositoryItem extends Item {
  readonly FileCount: number;
  readonly LineCount: number;
  readonly MatchCount: number;
  readonly Partial: string;
  readonly Stale: string;
}

/** Throws RouterError when it is cut off; lines that came until then have left. */
async function* ofRepository(
  call: RouteCall,
  { id, name }: AnsweringRepository,
  request: LinesRequest,
): AsyncGenerator<JsonText | RepositoryItem> {
  for (let tries = 1; ; tries += 1) {
    let begun = false;
    try {
      for await (const item of itemsOf(call.access, call, name, shardOf({ id }), request)) {
        begun = true;
        yield item;
      }
      return;
    } catch (error) {
      const moved = error instanceof RouterError && error.code === "MOVED";
      if (begun || !moved || tries === triesMax) throw error;
    }
  }
}

async function* itemsOf(
  access: FleetAccess,
  { signal, trace }: RouteCall,
  name: string,
  shard: string,
  body: LinesRequest,
): AsyncGenerator<JsonText | RepositoryItem> {
  const terms = { service: "code", method: "lines", mode: "read", openTimeoutMs: timeoutMs } as const;
  const traced = trace === undefined ? {} : { trace };
  let before: Buffer = Buffer.alloc(0);
  let about = { Repository: name, Version: "", Stale: "" };
  for await (const item of access.stream({ ...terms, shard, body, signal, ...traced }) as AsyncIterable<
    LinesBegin | Uint8Array | LinesEnd
  >) {
    if (item instanceof Uint8Array) yield new JsonText([before, listed(item), AFTER]);
    else if ("repository" in item) {
      const { repository, stale } = item;
      about = { Repository: repository.name, Version: repository.heads[0]?.commit ?? "", Stale: stale ?? "" };
      const { Repository, Version } = about;
      before = Buffer.from(
        `${JSON.stringify({ kind: "lines", Repository, Version }).slice(0, -1)},"Lines":[`,
      );
    } else {
      const { counts, partial } = item;
      yield {
        kind: "repository",
        ...about,
        FileCount: counts.files,
        LineCount: counts.lines,
        MatchCount: counts.matches,
        Partial: partial ?? "",
      };
    }
  }
}

const AFTER = Buffer.from("]}");

/** Lines of JSON as the items of one list, in place. */
function listed(text: Uint8Array): Uint8Array {
  const list = Buffer.from(text.buffer, text.byteOffset, text.length - 1);
  for (let at = list.indexOf(NEWLINE); at !== -1; at = list.indexOf(NEWLINE, at + 1)) list[at] = COMMA;
  return list;
}
