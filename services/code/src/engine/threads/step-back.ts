/**
 * Lets threads, and processes that were started, step back behind the process's main thread: what they do takes long, and whoever waits for an answer from the event loop should not wait for a processor too.
 * Those of the engine say so themselves; those with which V8 compiles and collects garbage for all threads are told. Only where the system can tell one thread from another (Linux); elsewhere all
 * of them stay equal.
 */
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { setFlagsFromString } from "node:v8";

/**
 * How far behind the event loop. Those that search stand nearest to it: one that hands over an answer wakes the event loop while it still holds the lock of the port between them, and is often put
 * aside right there. The event loop then waits for it, and for whatever stands before it: behind V8's threads, with 15 and 10, that was 16 to 18 ms in one run of the bench.
 */
const NICENESS = { searching: 5, tagging: 5, building: 10, helping: 10, fetching: 10 } as const;
/** What V8's threads are called from Node 22 on. Before, they have no name, but are the first that a process starts: one that waits for timers, and four. */
const HELPER_NAME = "V8Worker";
const HELPERS = 5;

/** The thread that calls this. */
export function stepBack(does: "searching" | "building"): void {
  whereTold(() => {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (thread > 0 && thread !== process.pid) setPriority(thread, NICENESS[does]);
  });
}

/**
 * V8's own threads. While a search compiles its automata, all of them may work for the thread that runs it, four milliseconds each before another gets the processor: the event loop waited for
 * three of them in turn.
 */
export function stepHelpersBack(): void {
  whereTold(() => {
    for (const thread of helpersOf("/proc/self/task", process.pid)) setPriority(thread, NICENESS.helping);
    // The event loop would wait for their share of its collections of what is short-lived: 12 ms were seen, of which one was its own work. This may be changed while a process runs; what
    // concerns marking may not, V8 ends it.
    setFlagsFromString("--no-parallel-scavenge");
  });
}

/** A process that this one started, such as git or ctags: what it does is in no hurry. What it starts itself is as patient. */
export function stepProcessBack(pid: number | undefined, does: "tagging" | "fetching"): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, NICENESS[does]);
  } catch {
    // It has ended already, or the system does not allow it: it works as well, only not behind others.
  }
}

/** Among the threads that a folder of the system lists. */
export function helpersOf(folder: string, main: number): readonly number[] {
  const threads = readdirSync(folder)
    .map(Number)
    .filter((thread) => thread !== main)
    .sort((a, b) => a - b);
  const named = threads.filter((thread) =>
    readFileSync(`${folder}/${thread}/comm`, "utf8").startsWith(HELPER_NAME),
  );
  return named.length > 0 ? named : threads.slice(0, HELPERS);
}

function whereTold(act: () => void): void {
  if (process.platform !== "linux") return;
  try {
    act();
  } catch {
    // A system without /proc, one that forbids it, or a thread that ended meanwhile: all work as well, only not behind others.
  }
}
