/** Lists and shows what is there: repositories as zoekt lists them, and files as they are. */
import { HttpAnswer, route, type FleetAccess, type RouteCall } from "@keelson/runtime";
import { z } from "zod";
import type { RepositoryStatus } from "../catalogue-shard.ts";
import { CodeError } from "../code-error.ts";
import { matchText, QueryError, specialiser } from "../query/index.ts";
import { CATALOGUE_SHARD } from "../repository.ts";
import type { PrintAnswer } from "../shard.ts";
import { directoryOf } from "./directory.ts";
import { searchFleet } from "./fleet-search.ts";
import { understand } from "./understand.ts";
import { zoektList, ZoektList } from "./zoekt-list.ts";

const timeoutMs = 10_000;

export async function askCatalogue<T>(
  access: FleetAccess,
  method: string,
  body: unknown,
  trace?: string,
): Promise<T> {
  const answer = await access.call({
    service: "code",
    shard: CATALOGUE_SHARD,
    method,
    mode: "read",
    body,
    timeoutMs,
    ...(trace === undefined ? {} : { trace }),
  });
  return answer.body as T;
}

export const list = route({
  verb: "POST",
  path: "/list",
  alsoAt: ["/api/list"],
  summary: "List repositories that a query matches, with zoekt's request and answer",
  body: z.unknown(),
  answer: z.looseObject({ List: z.unknown() }),
  scope: "read",
  mode: "read",
  to: {
    kind: "custom",
    async handle({ body }, call) {
      const parsed = ZoektList.safeParse(body ?? {});
      if (!parsed.success) return new HttpAnswer({ Error: z.prettifyError(parsed.error) }, { status: 400 });
      try {
        const { rows, missing } = await matching(parsed.data.Q, call);
        return { List: zoektList(rows, parsed.data.Opts?.Field, missing) };
      } catch (error) {
        if (error instanceof QueryError) return new HttpAnswer({ Error: error.message }, { status: 400 });
        throw error;
      }
    },
  },
});

/** Most queries of lists speak of repositories alone; the others are searched for. */
async function matching(
  text: string,
  call: RouteCall,
): Promise<{ rows: readonly RepositoryStatus[]; missing: number }> {
  const query = understand(text);
  const { repositories } = await askCatalogue<{ repositories: readonly RepositoryStatus[] }>(
    call.access,
    "status",
    null,
  );
  const special = specialiser(query, matchText);
  const left = repositories.map((row) => ({ row, query: special(row) }));
  if (left.every(({ query: rest }) => rest.kind === "const" || isEverything(rest)))
    return {
      rows: left.filter(({ query: rest }) => rest.kind !== "const" || rest.value).map(({ row }) => row),
      missing: 0,
    };
  const found = new Set<number>();
  let missing = 0;
  const events = searchFleet(call.access, {
    query,
    options: { filesShownMax: 1, matchesMax: 1 },
    timeoutMs: call.timeoutMs - 200,
    patienceMs: 500,
  });
  for await (const event of events) {
    if (event.kind === "missing") missing++;
    if (event.kind === "answer" && event.answer.counts.files > 0) found.add(event.answer.repository.id);
  }
  return { rows: repositories.filter(({ id }) => found.has(id)), missing };
}

function isEverything(query: { readonly kind: string; readonly child?: { readonly kind: string } }): boolean {
  return query.kind === "type" && query.child?.kind === "const";
}

const PrintQuery = z.object({
  r: z.string().describe("the repository's name"),
  f: z.string().describe("the file's path"),
  b: z.string().optional().describe("a branch; the default branch when left out"),
  format: z.enum(["raw", "json"]).default("json"),
});

export const print = route({
  verb: "GET",
  path: "/print",
  alsoAt: ["/print"],
  summary: "Show a file as it is in the index, with its commit",
  query: PrintQuery,
  answer: z.looseObject({ Repository: z.string() }),
  scope: "read",
  mode: "read",
  to: {
    kind: "custom",
    async handle({ query: { r, f, b, format } }, call) {
      const answer = await printFile(call.access, r, f, b);
      const { repository, path, language, branches, content } = answer;
      const version =
        repository.heads.find(({ branch }) => branch === (b ?? repository.heads[0]?.branch))?.commit ?? "";
      const bytes = Buffer.from(content);
      if (format === "raw")
        return new HttpAnswer(bytes, {
          headers: {
            "content-type": "text/plain; charset=utf-8",
            "x-content-type-options": "nosniff",
            "keelson-commit": version,
          },
        });
      return {
        Repository: repository.name,
        Version: version,
        FileName: path,
        Language: language,
        Branches: branches,
        Content: bytes.toString("base64"),
      };
    },
  },
});

async function printFile(
  access: FleetAccess,
  repository: string,
  path: string,
  branch: string | undefined,
): Promise<PrintAnswer> {
  const { repositories } = await directoryOf(access).list();
  const row = repositories?.find(({ name }) => name === repository);
  if (!row) throw new CodeError("REPOSITORY_UNKNOWN", `there is no repository ${repository}`);
  if (row.state === "resting") {
    await askCatalogue(access, "wanted", { ids: [row.id] });
    throw new CodeError(
      "REPOSITORY_UNAVAILABLE",
      `${repository} was in nobody's memory (${row.reason}) and is being loaded: try again`,
    );
  }
  const answer = await access.call({
    service: "code",
    shard: String(row.id),
    method: "print",
    mode: "read",
    body: { path, ...(branch === undefined ? {} : { branch }) },
    timeoutMs,
    patienceMs: 2_000,
  });
  return answer.body as PrintAnswer;
}
