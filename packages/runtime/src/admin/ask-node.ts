/** Asks nodes themselves, over the wire, for what is not in the store. A node that does not answer is no failure of the fleet's admin: it says so. */
import type { Decision } from "@keelson/kernel";
import type { WirePool } from "@keelson/wire";
import { DECISIONS_METHOD, REPORT_METHOD, type NodeReport } from "./node-report.ts";

export interface AskNode {
  report(address: string): Promise<NodeReport>;
  decisions(address: string, replica: string): Promise<readonly Decision[]>;
}

/** A node that takes longer is not worth waiting for: the rest of the answer is there already. */
const TIMEOUT_MS = 1_500;

export function askOver(pool: WirePool): AskNode {
  return {
    report: async (address) =>
      (await pool.call(address, REPORT_METHOD, null, { timeoutMs: TIMEOUT_MS })) as NodeReport,
    decisions: async (address, replica) =>
      (await pool.call(address, DECISIONS_METHOD, replica, { timeoutMs: TIMEOUT_MS })) as Decision[],
  };
}
