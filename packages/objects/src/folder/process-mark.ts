/**
 * A name for this process that no other process ever has: machine, boot, process number and the moment it started. Files under it belong to this process,
 * and whoever opens the folder later can tell whether it is gone. From /proc on Linux; elsewhere the number has to do.
 */
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface ProcessMark {
  /** The machine and the namespace that process numbers count in. */
  readonly machine: string;
  readonly boot: string;
  readonly pid: number;
  /** Clock ticks between boot and start; "0" where /proc does not say. */
  readonly started: string;
}

export function ownMark(): ProcessMark {
  const machine = [hostname(), attempt(() => readlinkSync("/proc/self/ns/pid")) ?? ""].join("\n");
  return {
    machine: createHash("sha256").update(machine).digest("hex").slice(0, 12),
    boot: (readText("/proc/sys/kernel/random/boot_id") ?? "0").replaceAll("-", "").slice(0, 12),
    pid: process.pid,
    started: startOf(process.pid) ?? "0",
  };
}

export function formatMark({ machine, boot, pid, started }: ProcessMark): string {
  return [machine, boot, pid, started].join("-");
}

export function parseMark(name: string): ProcessMark | undefined {
  const match = /^([0-9a-f]{12})-([0-9a-f]{1,12})-(\d{1,10})-(\d{1,20})$/.exec(name);
  if (match === null) return undefined;
  const [, machine = "", boot = "", pid = "", started = ""] = match;
  return { machine, boot, pid: Number(pid), started };
}

/** Whether that process is gone; undefined when it cannot be seen from here (another machine or container). */
export function isGone(other: ProcessMark, self: ProcessMark): boolean | undefined {
  if (other.machine !== self.machine) return undefined;
  if (other.boot !== self.boot) return true;
  if (other.started !== "0") return startOf(other.pid) !== other.started;
  return !answersSignals(other.pid);
}

/** Field 22 of /proc/<pid>/stat, counted after the command, which may itself hold spaces and brackets. A zombie is gone. */
function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields === undefined || fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function readText(path: string): string | undefined {
  return attempt(() => readFileSync(path, "utf8").trim());
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    // Not Linux, or the process is gone: both mean "not known".
    return undefined;
  }
}
