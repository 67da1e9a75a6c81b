/**
 * Collects what searches leave behind in their thread. Lists of matches are memory outside the heap, and a thread that makes little else does not notice how much of it is garbage: it would keep some 20 MB
 * for good. Collecting takes a few milliseconds of that thread, and nothing of others.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What a thread may have before it is looked at what of it is garbage. */
const LEFT_BYTES_MIN = 4 << 20;
/** Where so much more than was in use after the last collection has come together, it is worth another. */
const GROWTH = 1.5;

let leftBytesMax = LEFT_BYTES_MIN;
let collect: (() => void) | undefined;

/** After a search. */
export function collectLeftovers(): void {
  if (process.memoryUsage().arrayBuffers <= leftBytesMax) return;
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
  leftBytesMax = Math.max(LEFT_BYTES_MIN, process.memoryUsage().arrayBuffers * GROWTH);
}
