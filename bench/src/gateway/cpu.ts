/** The CPU that a process has used so far, user and system, all its threads, as the kernel counts it: in steps of 10 ms. */
import { readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;

export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name, in parentheses, may hold anything; fields are counted from after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  return ((user + system) / TICKS_PER_SECOND) * 1_000_000;
}
