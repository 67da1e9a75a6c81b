/** Lists repositories as zoekt lists them. */
import { route, type RouteCall } from "@keelson/runtime";
import { z } from "zod";
import type { RepositoryStatus } from "../catalogue-shard.ts";
import { allPages } from "./ask-catalogue.ts";
import { searchFleet } from "./fleet-search.ts";
import { meantBy } from "./meant.ts";
import { refusing, zoektRefusal } from "./refusal.ts";
import { understand } from "./understand.ts";
import { fieldOf, zoektList } from "./zoekt-list.ts";
import { readList } from "./zoekt-request.ts";

export const list = route({
  verb: "POST",
  path: "/list",
  alsoAt: ["/api/list"],
  refusal: zoektRefusal,
  summary: "List repositories that a query matches, with zoekt's request and answer",
  body: z.unknown(),
  answer: z.looseObject({ List: z.unknown() }),
  scope: "read",
  mode: "read",
  to: {
    kind: "custom",
    async handle({ body }, call) {
      return refusing(async () => {
        const { Q, Opts } = readList(body);
        const field = fieldOf(Opts?.Field);
        const { rows, missing } = await matching(Q, call);
        return { List: zoektList(rows, field, missing) };
      });
    },
  },
});

/** Most queries of lists speak of repositories alone; the others are searched for. */
async function matching(
  text: string,
  call: RouteCall,
): Promise<{ rows: readonly RepositoryStatus[]; missing: number }> {
  const query = understand(text);
  const { repositories } = await allPages<RepositoryStatus>(call.access, "status");
  const left = await meantBy(query, repositories, call.timeoutMs);
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
    signal: call.signal,
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
