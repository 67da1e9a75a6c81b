/** Counts the syncs of our server under load, from outside: strace sees every call. It makes the server slow, so nothing else is measured meanwhile. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keelson } from "./contenders.ts";
import { measureLifecycle, type JobsLoad } from "./measure.ts";

const ATTACH_MS = 500;

export async function countSyncs(load: JobsLoad): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "keelson-bench-syncs-"));
  const file = join(folder, "trace");
  const running = await keelson.start();
  const pid = String(running.pids()[0]);
  const strace = spawn("strace", ["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", file, "-p", pid], {
    stdio: "ignore",
  });
  const ended = new Promise<void>((resolve, reject) => {
    strace.once("error", reject);
    strace.once("close", () => resolve());
  });
  try {
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, ATTACH_MS))]);
    await measureLifecycle(running, { ...load, pacedJobs: 1 });
    strace.kill("SIGINT");
    await ended;
    return readFileSync(file, "utf8").match(/f(?:data)?sync\(\d+/g)?.length ?? 0;
  } finally {
    strace.kill("SIGKILL");
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
