/** One line of the audit log: who asked for what, from where, what became of it, and what it changed. No secret is ever part of it. */
import { z } from "zod";

export const auditEntrySchema = z.object({
  /** Rises by one; also across restarts, when the log is a file. */
  seq: z.int(),
  /** Milliseconds since 1970. */
  at: z.number(),
  /** The token's name; "anyone" where nobody needs one, "nobody" when what was shown is not taken. */
  who: z.string(),
  /** The token's id, which is no secret; for one that is not taken, the id that was claimed. */
  tokenId: z.string().optional(),
  /** The address of the connection. */
  from: z.string(),
  /** What a proxy says of where it came from; not to be trusted unless the proxy is. */
  forwarded: z.string().optional(),
  /** `service.operation`. */
  action: z.string(),
  /** What it is about: the path's parameters. */
  about: z.record(z.string(), z.string()).optional(),
  /** The rest of what was asked, cut. */
  asked: z.string().optional(),
  /** What it changed, where the action says so. */
  change: z.object({ before: z.unknown(), after: z.unknown() }).optional(),
  outcome: z.enum(["done", "refused", "failed"]),
  status: z.int(),
  /** The error's code. */
  code: z.string().optional(),
});

export type AuditEntry = z.output<typeof auditEntrySchema>;

export type AuditRecord = Omit<AuditEntry, "seq" | "at">;
