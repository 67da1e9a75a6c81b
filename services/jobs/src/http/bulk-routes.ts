/** Many jobs of a tenant steered at once: by their ids, or all that a filter finds. Each is done or refused by itself. */
import { route, type RouteCall } from "@keelson/runtime";
import { z } from "zod";
import { isRefusal, type JobStatus, type JobView, type Refusal } from "../engine/index.ts";
import { ask } from "./job-routes.ts";
import { StatusQuery, TenantParams } from "./schemas.ts";

const JOBS_MAX = 1_000;
/** Commands under way at once: they share flushes of the journal, but a node also has others to serve. */
const AT_ONCE = 100;

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
      "`ids` names the jobs; `where` takes those that changed last and whose state allows it. Ask again while `more` is true.",
    params: TenantParams,
    body: z
      .object({
        action: z.enum(Object.keys(ACTIONS) as [Action, ...Action[]]),
        ids: z.array(z.string().min(1)).min(1).max(JOBS_MAX).optional(),
        where: Where.optional(),
        limit: z.int().min(1).max(JOBS_MAX).default(JOBS_MAX).describe("of what `where` finds"),
      })
      .refine(({ ids, where }) => (ids === undefined) !== (where === undefined), {
        message: "name either ids or where",
      }),
    answer: z.object({
      done: z.number(),
      refused: z.array(z.object({ id: z.string(), error: z.string(), message: z.string() })),
      more: z.boolean().describe("`where` may find more"),
    }),
    scope: "write",
    mode: "write",
    tenant: ({ params }) => params.tenant,
    limits: { timeoutMs: 30_000, inflightMax: 16 },
    to: {
      kind: "custom",
      async handle({ params: { tenant }, body: { action, ids, where, limit } }, call) {
        const names = ids ?? (await found(call, tenant, action, where ?? {}, limit));
        const refused: { id: string; error: string; message: string }[] = [];
        for (let at = 0; at < names.length; at += AT_ONCE) {
          const some = names.slice(at, at + AT_ONCE);
          // oxlint-disable-next-line no-await-in-loop -- so many at once and no more.
          const answers = await Promise.all(some.map((id) => steer(call, action, tenant, id)));
          for (const [index, answer] of answers.entries())
            if (answer !== undefined)
              refused.push({ id: some[index]!, error: answer.refused, message: answer.message });
        }
        const more = ids === undefined && names.length === limit;
        return { done: names.length - refused.length, refused, more };
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

async function found(
  call: RouteCall,
  tenant: string,
  action: Action,
  { status, group, metadataKey: key, metadataValue: value = "" }: z.output<typeof Where>,
  limit: number,
): Promise<string[]> {
  const states: readonly JobStatus[] = ACTIONS[action];
  const asked = {
    tenant,
    limit,
    group,
    ...(key === undefined ? {} : { metadata: { key, value } }),
  };
  const lists = await Promise.all(
    states
      .filter((each) => status === undefined || each === status)
      .map((each) => ask(call, tenant, "read", "list", { ...asked, status: each })),
  );
  return (lists as (readonly JobView[])[])
    .flat()
    .slice(0, limit)
    .map(({ spec }) => spec.id);
}
