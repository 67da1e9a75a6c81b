/** How a node keeps within the memory that it was given, besides what it counts: by what it may start, and by the size of its heap. */

/** Nodes that were given less have a small heap. */
const smallMemoryBytes = 1 << 30;
/** A searching thread that is started for a while takes some 15 MB: there may be one for each of so many bytes of the process. */
const bytesPerSpareWorker = 112 << 20;
const spareWorkersMax = 4;

export function processTerms(memoryBytes: number): {
  readonly spareWorkers: number;
  readonly smallHeap: boolean;
} {
  return {
    spareWorkers: Math.min(spareWorkersMax, Math.floor(memoryBytes / bytesPerSpareWorker)),
    smallHeap: memoryBytes < smallMemoryBytes,
  };
}
