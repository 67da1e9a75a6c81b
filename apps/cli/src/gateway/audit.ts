/** The audit log of a gateway, as `--audit` says: a file, or memory. */
import { AuditLog } from "@keelson/gateway";
import type { Clock } from "@keelson/kernel";
import { UsageError } from "../failure.ts";

export async function openAudit(
  path: string | undefined,
  clock: Clock,
  onProblem: (text: string) => void,
): Promise<AuditLog> {
  try {
    return await AuditLog.open({ path, clock, onProblem });
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `the audit log ${path ?? ""} cannot be written (${code}): name another with --audit`,
      {
        cause: error,
      },
    );
  }
}
