/**
 * Lets a thread of the engine step back behind the process's main thread: what it does takes long, and whoever waits for an answer from the event loop should not wait for a
 * processor too. Only where the system can tell one thread from another (Linux); elsewhere all of them stay equal.
 */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/** Enough to be passed over whenever the event loop has something to do, and little enough to get a fair share otherwise. */
const NICENESS = 5;

export function stepBack(): void {
  if (process.platform !== "linux") return;
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (thread > 0 && thread !== process.pid) setPriority(thread, NICENESS);
  } catch {
    // A system without /proc, or one that forbids it: the thread works as well, only not behind others.
  }
}
