/** The audit log over HTTP: `/v1/fleet/audit`, what this gateway has seen, newest first. */
import { route, type Api } from "@keelson/runtime";
import { z } from "zod";
import { auditEntrySchema } from "./audit-entry.ts";
import type { AuditLog } from "./audit-log.ts";

export function withAudit(fleet: Api, log: AuditLog): Api {
  return {
    ...fleet,
    http: {
      ...fleet.http,
      audit: route({
        verb: "GET",
        path: "/audit",
        summary: "Who asked this gateway for what, and what became of it; newest first",
        scope: "admin",
        mode: "read",
        query: z.object({
          limit: z.coerce.number().int().min(1).max(1_000).default(100),
          before: z.coerce
            .number()
            .int()
            .min(1)
            .optional()
            .describe("only older ones: `next` of the page before"),
          who: z.string().max(200).optional().describe("a token's name or id"),
          action: z.string().max(200).optional().describe("such as fleet.drain"),
          failed: z.stringbool().default(false).describe("only what was refused or failed"),
        }),
        answer: z.object({ entries: z.array(auditEntrySchema), next: z.int().optional() }),
        to: { kind: "custom", handle: ({ query }) => Promise.resolve(log.query(query)) },
      }),
    },
  };
}
