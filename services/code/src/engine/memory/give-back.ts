/**
 * Gives the pages of a shared memory back to the system at once; it reads as zeros afterwards, and may be written again. Left alone, a memory that nobody has any more stays resident until the heap of
 * every thread that knew it is collected, which a process that answers searches may not do for hours.
 */
import { openCLibrary } from "./c-library.ts";

/** From mman.h. */
const MADV_DONTNEED = 4;

type Madvise = (memory: Uint8Array, bytes: number, advice: number) => number;
let madvise: Madvise | undefined;

/** Whether it was given back. Takes a millisecond for every 15 MB that are resident. */
export function giveBack(memory: SharedArrayBuffer): boolean {
  try {
    madvise ??= openCLibrary().func("int madvise(void *, size_t, int)") as unknown as Madvise;
    return madvise(new Uint8Array(memory), memory.byteLength, MADV_DONTNEED) === 0;
  } catch {
    // Not Linux with glibc: it goes when it is collected, as everywhere else.
    return false;
  }
}
