/**
 * Keeps small what V8 takes for objects that live for a moment. Left alone it grows to 32 MB while a process starts, and stays there: more than all answers of a node that was given little memory may
 * hold. What outlives that room is collected sooner for the same reason. It is a matter of the whole process, and every thread that starts forgets it: until that is mended the room may grow, so it is made
 * small again, and where this matters threads are rarely started.
 */
import { Session } from "node:inspector";
import type { Worker } from "node:worker_threads";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Both halves of the room together; it is 2 MB at first. */
const ROOM_BYTES_MAX = 6 << 20;

let small = false;

function keep(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=25");
}

/** What starting has left behind is collected, and the room for new objects, small by then, does not grow again. */
export function keepYoungRoomSmall(): void {
  small = true;
  keep();
  collect();
}

function collect(): void {
  const session = new Session();
  session.connect();
  // Other ways to ask for a collection leave that room as it is. The session must outlive its answer.
  session.post("HeapProfiler.collectGarbage", () => setImmediate(() => session.disconnect()));
}

/** A thread that starts sets these anew for all. */
export function keepItWhen(starting: Worker): void {
  if (!small) return;
  starting.once("online", () => {
    keep();
    const room = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    if (room !== undefined && room.space_size > ROOM_BYTES_MAX) collect();
  });
}
