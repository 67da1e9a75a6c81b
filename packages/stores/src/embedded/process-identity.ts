/**
 * Who a process is, beyond its number: numbers are used again, so a process is named by its number, the moment it started, the boot of the machine
 * and the namespace the number counts in. From /proc on Linux; elsewhere the number has to do.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { basename } from "node:path";

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks between boot and the start of the process; empty where /proc does not say. */
  readonly started: string;
  readonly boot: string;
  readonly pidNamespace: string;
  readonly host: string;
  /** For people. The first argument tells `keelson up` from `keelson store`; later ones may hold secrets. */
  readonly command: string;
}

export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    started: startOf(process.pid) ?? "",
    boot: read("/proc/sys/kernel/random/boot_id") ?? "",
    pidNamespace: readLink("/proc/self/ns/pid") ?? "",
    host: hostname(),
    command: [basename(process.argv[1] ?? process.title), process.argv[2] ?? ""].join(" ").trim(),
  };
}

/** Whether that process still lives; undefined when it cannot be seen from here (another machine, another container). */
export function isAlive(other: ProcessIdentity, self: ProcessIdentity): boolean | undefined {
  if (other.host !== self.host) return undefined;
  if (other.boot !== self.boot) return false;
  if (other.pidNamespace !== self.pidNamespace) return undefined;
  if (other.started !== "") return startOf(other.pid) === other.started;
  return answersSignals(other.pid);
}

/** Field 22 of /proc/<pid>/stat, counted after the command, which may itself hold spaces and brackets. A zombie is no longer alive. */
function startOf(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields === undefined || fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
}

/** Signal 0 reaches a living process or is refused by it; ESRCH alone says that there is none. */
function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Not Linux, or the process is gone: both mean "not known".
    return undefined;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // The same.
    return undefined;
  }
}
