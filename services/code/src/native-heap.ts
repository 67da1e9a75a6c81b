/**
 * The heap of the C library, which buffers live in: by itself it keeps what is freed, in a part of its own for each thread, because it learns from large buffers that large ones come again. A node of 512 MB
 * had 230 MB there, of which 90 were in use. Told so, it gives large ones back at once, and the rest when it is asked to. Only glibc knows these words; elsewhere nothing is done.
 */
import { openCLibrary } from "./engine/memory/c-library.ts";

/** What is as large as this is a mapping of its own, which ends with it. It is glibc's own first value, which otherwise rises with every buffer that is freed. */
const mappedBytesMin = 131_072;
/** Free memory at the end of the heap that is kept. */
const keptBytesMax = 1_048_576;
/** Parts of the heap; threads share them. */
const partsMax = 2;

/** Parameters of `mallopt`, from malloc.h. */
const [M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX] = [-1, -3, -8];

interface NativeHeap {
  /** Gives back whatever is free in it. A few milliseconds of another thread. */
  trim(): Promise<void>;
}

let opened: NativeHeap | undefined;

/** Once for the process. Undefined, and `failed` is told why, where it cannot be told anything. */
export function openNativeHeap(failed: (why: string) => void): NativeHeap | undefined {
  try {
    opened ??= open();
  } catch (error) {
    // Another C library than glibc, or a platform that the binding was not built for: the process works as well, in more memory.
    failed(String(error));
  }
  return opened;
}

function open(): NativeHeap {
  const library = openCLibrary();
  const mallopt = library.func("int mallopt(int, int)") as unknown as (name: number, value: number) => number;
  mallopt(M_MMAP_THRESHOLD, mappedBytesMin);
  mallopt(M_TRIM_THRESHOLD, keptBytesMax);
  mallopt(M_ARENA_MAX, partsMax);
  const trim = library.func("int malloc_trim(size_t)");
  return {
    trim: () =>
      new Promise((resolve, reject) => {
        trim.async(0, (error: Error | null) => (error ? reject(error) : resolve()));
      }),
  };
}
