/**
 * Lets threads step back behind the process's main thread: what they do takes long, and whoever waits for an answer from the event loop should not wait for a processor too.
 * Those of the engine say so themselves; those with which V8 compiles and collects garbage for all threads are told. Only where the system can tell one thread from another (Linux); elsewhere all
 * of them stay equal.
 */
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { setFlagsFromString } from "node:v8";

/**
 * Enough to be passed over whenever the event loop has something to do, and little enough to get a share otherwise. On two cores the event loop was held up for 12 to 23 ms at most with it, in seven
 * runs of the bench's queries.
 */
const NICENESS = 10;
/** Of V8's: behind the event loop, and before those that search, because a collection of the event loop's waits for them. */
const HELPERS_NICENESS = 5;
/** What V8's threads are called from Node 22 on. Before, they have no name, but are the first that a process starts: one that waits for timers, and four. */
const HELPER_NAME = "V8Worker";
const HELPERS = 5;

/** The thread that calls this. */
export function stepBack(): void {
  whereTold(() => {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (thread > 0 && thread !== process.pid) setPriority(thread, NICENESS);
  });
}

/**
 * V8's own threads. While a search compiles its automata, all of them may work for the thread that runs it, four milliseconds each before another gets the processor: the event loop waited for
 * three of them in turn.
 */
export function stepHelpersBack(): void {
  whereTold(() => {
    for (const thread of helpersOf("/proc/self/task", process.pid)) setPriority(thread, HELPERS_NICENESS);
    // The event loop would wait for their share of its collections of what is short-lived: 12 ms were seen, of which one was its own work. This may be changed while a process runs; what
    // concerns marking may not, V8 ends it.
    setFlagsFromString("--no-parallel-scavenge");
  });
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
