/** How a node keeps within the memory that it was given, besides what it counts: by what it gives to indexes, by what it may start, and by the size of what it works with. */

/** Nodes that were given less keep their heap small; with the heap that V8 would have, one of 1 GB took 1.16 of them. */
const smallMemoryBytes = 1.5 * 2 ** 30;
/** A thread that searches takes some 35 MB when answers are large: there may be one for each of so many bytes of the process, and two in any case. */
const bytesPerThread = 256 << 20;
const threadsMin = 2;
const spareWorkersMax = 4;
/** Of what is left beside the process: not for indexes, because threads and answers take more where there is more to find, and what is listed of a repository is as large as that is. */
const keptShare = 0.1;
/** Where there is less, threads and answers take more of it, up to so much. */
const keptShareSmall = 0.15;
const keptBytesMax = 384 << 20;
/** However little memory a node is given, its engine needs some to be of use. */
export const indexBytesMin: number = 32 << 20;

interface ProcessTerms {
  /** For indexes. */
  readonly memoryBytes: number;
  readonly workers: number;
  readonly spareWorkers: number;
  readonly small: boolean;
}

/** `memory` is that of the process in all, `processMemory` what it takes besides indexes. */
export function processTerms(terms: {
  readonly memory: number;
  readonly processMemory: number;
  readonly workers: number;
}): ProcessTerms {
  const { memory, processMemory, workers } = terms;
  const threads = Math.max(threadsMin, Math.floor(memory / bytesPerThread));
  const left = memory - processMemory;
  const kept = Math.max(left * keptShare, Math.min(left * keptShareSmall, keptBytesMax));
  return {
    memoryBytes: Math.max(indexBytesMin, Math.floor(left - kept)),
    workers,
    spareWorkers: Math.min(spareWorkersMax, Math.max(0, threads - workers)),
    small: memory < smallMemoryBytes,
  };
}
