/**
 * Every line that a query finds in all repositories, as it is found: nothing ranked, nothing left out, and no more memory than a few pieces on the way. Repositories give their lines one after
 * another. Who reads slowly makes the search wait.
 */
import { JsonText, RouterError, route, type RouteCall } from "@keelson/runtime";
import { z } from "zod";
import { Turns } from "../engine/index.ts";
import type { Query } from "../query/index.ts";
import type { LinesBegin, LinesRequest } from "../search/search-request.ts";
import type { LinesEnd } from "../search/shard-lines.ts";
import { beginSearch, explained, missingOf, type Missing, type Unheld } from "./fleet-search.ts";
import { refusing } from "./refusal.ts";
import { understand } from "./understand.ts";

const timeoutMs = 30_000;
/** How long a repository that nobody holds, or whose node does not answer, is waited for. */
const openMsMax = 2_000;
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
      .describe("for all of it, its reader's time included; then it stops, and says so"),
  }),
  answer: z.looseObject({ kind: z.string() }),
  scope: "read",
  mode: "read",
  limits: { bodyBytesMax: 256 << 10, timeoutMs },
  to: {
    kind: "custom",
    async *handle({ body }, call) {
      const { query, literal, wallMs } = body;
      const items = found(await refusing(async () => understand(query, literal)), wallMs, call);
      try {
        for (;;) {
          const next = await refusing(() => items.next());
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        await items.return(undefined);
      }
    },
  },
});

type Item = { readonly kind: string } & Readonly<Record<string, unknown>>;

async function* found(query: Query, wallMs: number, call: RouteCall): AsyncGenerator<Item | JsonText, void> {
  const startedAt = performance.now();
  const leftMs = (): number => Math.max(1, Math.floor(startedAt + wallMs - performance.now()));
  const totals = { FileCount: 0, LineCount: 0, MatchCount: 0, Answered: 0, Missing: 0, Partial: false };
  const missed = ({ repository: Repository, code: Code, why: Why }: Missing): Item => {
    totals.Missing += 1;
    totals.Partial = true;
    return { kind: "missing", Repository, Code, Why };
  };
  const begun = await beginSearch(call.access, { query, timeoutMs: leftMs() });
  for (const event of begun.first)
    if (event.kind === "missing") yield missed(event.missing);
    else {
      const { asked: Asked, leftOut: LeftOut, problem: Problem = "" } = event;
      if (Problem !== "") totals.Partial = true;
      yield { kind: "begin", Asked, LeftOut, Problem };
    }
  const unheld: Unheld[] = [];
  for (const { shard, name } of begun.shards) {
    try {
      for await (const item of ofRepository(call, shard, name, { query: begun.query, timeCapMs: leftMs() })) {
        if (!(item instanceof JsonText)) {
          totals.Answered += 1;
          totals.FileCount += item.FileCount;
          totals.LineCount += item.LineCount;
          totals.MatchCount += item.MatchCount;
          if (item.Partial !== "" || item.Stale !== "") totals.Partial = true;
          // Most have nothing, and say so by their number.
          if (item.FileCount === 0 && item.Partial === "" && item.Stale === "") continue;
        }
        yield item;
      }
    } catch (error) {
      if (!(error instanceof RouterError)) throw error;
      const missing = missingOf(name, { code: error.code, why: error.message });
      if (error.code === "NO_HOLDER") unheld.push({ id: Number(shard), missing });
      else yield missed(missing);
    }
  }
  for (const missing of await explained(call.access, unheld)) yield missed(missing);
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
  shard: string,
  name: string,
  request: LinesRequest,
): AsyncGenerator<JsonText | RepositoryItem> {
  for (let tries = 1; ; tries += 1) {
    let begun = false;
    try {
      for await (const item of itemsOf(call, shard, name, request)) {
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
  { access, signal, trace }: RouteCall,
  shard: string,
  name: string,
  body: LinesRequest,
): AsyncGenerator<JsonText | RepositoryItem> {
  const openTimeoutMs = Math.min(openMsMax, body.timeCapMs);
  const terms = { service: "code", method: "lines", mode: "read", openTimeoutMs } as const;
  const traced = trace === undefined ? {} : { trace };
  const turns = new Turns();
  let before: Buffer = Buffer.alloc(0);
  let about = { Repository: name, Version: "", Stale: "" };
  for await (const item of access.stream({ ...terms, shard, body, signal, ...traced }) as AsyncIterable<
    LinesBegin | Uint8Array | LinesEnd
  >) {
    if (item instanceof Uint8Array) {
      yield new JsonText([before, listed(item), AFTER]);
      // As many as came in one turn of the event loop would leave in it.
      if (turns.due) await turns.give();
    } else if ("repository" in item) {
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
