/** How busy this process is, for the reports of its nodes. */
import type { ProcessFigures } from "@keelson/runtime";

export function processFigures(): ProcessFigures {
  const { user, system } = process.cpuUsage();
  return {
    pid: process.pid,
    uptimeMs: Math.round(process.uptime() * 1_000),
    cpuMs: Math.round((user + system) / 1_000),
    rssBytes: process.memoryUsage.rss(),
  };
}
