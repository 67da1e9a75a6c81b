/** Many jobs of a tenant steered at once: by their ids, or all that a filter finds. Each is done or refused by itself. */
import { route, type RouteCall } from "@keelson/runtime";
import { z } from "zod";
import {
  isRefusal,
  mergePages,
  placeOfView,
  type JobStatus,
  type ListCursor,
  type ListPage,
  type Refusal,
} from "../engine/index.ts";
import { ask, cursorOf, nextOf } from "./job-routes.ts";
import { StatusQuery, TenantParams } from "./schemas.ts";

const JOBS_MAX = 1_000;
/** Commands under way at once: they share flushes of the journal, but a node also has others to serve. */
const AT_ONCE = 100;

/** For how long more jobs are looked for when few are found. */
const LOOKING_MS = 10_000;

/** The states that each action is for; a filter finds no others. */
const ACTIONS = {
  cancel: ["scheduled", "running"],
  restart: ["failed", "cancelled"],
  expedite: ["scheduled"],
  delete: ["succeeded", "failed", "cancelled"],
} as const satisfies Record<string, readonly JobStatus[]>;
type Action = keyof typeof ACTIONS;

const Where = z.object({
  status: StatusQuery,
  group: z.string().optional(),
  metadataKey: z.string().optional(),
  metadataValue: z.string().optional(),
});

export const bulkRoutes = {
  bulk: route({
    verb: "POST",
    path: "/tenants/{tenant}/bulk",
    summary: "Cancel, restart, expedite or delete many jobs",
    description:
      "`ids` names the jobs; `where` takes those that changed last and whose state allows it. While `more` is true ask again, with what `next` was as `before`: what was refused is not found again then.",
    params: TenantParams,
    body: z
      .object({
        action: z.enum(Object.keys(ACTIONS) as [Action, ...Action[]]),
        ids: z.array(z.string().min(1)).min(1).max(JOBS_MAX).optional(),
        where: Where.optional(),
        limit: z.int().min(1).max(JOBS_MAX).default(JOBS_MAX).describe("of what `where` finds"),
        before: z.string().optional().describe("`next` of the answer before"),
      })
      .refine(({ ids, where }) => (ids === undefined) !== (where === undefined), {
        message: "name either ids or where",
      }),
    answer: z.object({
      done: z.number(),
      refused: z.array(z.object({ id: z.string(), error: z.string(), message: z.string() })),
      more: z.boolean().describe("`where` may find more"),
      next: z.string().optional().describe("where it looks on"),
    }),
    scope: "write",
    mode: "write",
    tenant: ({ params }) => params.tenant,
    limits: { timeoutMs: 30_000, inflightMax: 16 },
    to: {
      kind: "custom",
      async handle({ params: { tenant }, body: { action, ids, where, limit, before } }, call) {
        const after = before === undefined ? undefined : cursorOf(before);
        const { names, next } =
          ids === undefined
            ? await found(call, tenant, { action, where: where ?? {}, limit, before: after })
            : { names: ids, next: undefined };
        const refused: { id: string; error: string; message: string }[] = [];
        for (let at = 0; at < names.length; at += AT_ONCE) {
          const some = names.slice(at, at + AT_ONCE);
          // oxlint-disable-next-line no-await-in-loop -- so many at once and no more.
          const answers = await Promise.all(some.map((id) => steer(call, action, tenant, id)));
          for (const [index, answer] of answers.entries())
            if (answer !== undefined)
              refused.push({ id: some[index]!, error: answer.refused, message: answer.message });
        }
        return {
          done: names.length - refused.length,
          refused,
          more: next !== undefined,
          ...nextOf(next),
        };
      },
    },
  }),
};

async function steer(
  call: RouteCall,
  kind: Action,
  tenant: string,
  id: string,
): Promise<Refusal | undefined> {
  const answer = await ask(call, tenant, "write", "execute", { kind, tenant, id });
  return isRefusal(answer) ? answer : undefined;
}

interface Sought {
  readonly action: Action;
  readonly where: z.output<typeof Where>;
  readonly limit: number;
  readonly before: ListCursor | undefined;
}

/** So many of the jobs that are meant, and where the others are. */
async function found(
  call: RouteCall,
  tenant: string,
  { action, where, limit, before }: Sought,
): Promise<{ readonly names: readonly string[]; readonly next: ListCursor | undefined }> {
  const { status, group, metadataKey: key, metadataValue: value = "" } = where;
  const states = (ACTIONS[action] as readonly JobStatus[]).filter(
    (each) => status === undefined || each === status,
  );
  const metadata = key === undefined ? {} : { metadata: { key, value } };
  const names: string[] = [];
  const until = performance.now() + LOOKING_MS;
  let next = before;
  do {
    const asked = { tenant, group, limit: limit - names.length, before: next, ...metadata };
    // oxlint-disable-next-line no-await-in-loop -- each look begins where the one before ended.
    const pages = await Promise.all(
      states.map((each) => ask(call, tenant, "read", "list", { ...asked, status: each })),
    );
    const page: ListPage = mergePages(
      (pages as ListPage[]).map(({ jobs, next: end }) => ({ jobs, next: end ?? undefined })),
      asked.limit,
      placeOfView,
    );
    for (const { spec } of page.jobs) names.push(spec.id);
    next = page.next;
  } while (next !== undefined && names.length < limit && performance.now() < until);
  return { names, next };
}
