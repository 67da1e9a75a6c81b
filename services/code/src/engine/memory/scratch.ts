/**
 * Where a searching thread works: a fixed part of every arena, because kernels see one memory at a time. Offsets count from the thread's part. Only what
 * is used is resident: a thread that runs simple searches touches a few pages of it.
 */

/** The most bytes a substring may have; longer ones are refused. */
export const NEEDLE_BYTES_MAX = 4096;
/** Bitmaps of 512 bytes that evaluating a query may need at once. */
export const BITMAPS_MAX = 64;
/** Matches of one document that are held at once; more are taken in turns. */
export const MATCHES_MAX = 32_768;
/** Atoms of one query, which share the room for automata. */
export const ATOMS_MAX = 32;

const CONTEXT_BYTES = 256;

export const scratchLayout = {
  /** The context of `scan`, one per atom. */
  contexts: 0,
  resumeAt: ATOMS_MAX * CONTEXT_BYTES,
  /** Three words that say where blocks are, for `locate`. */
  blocks: ATOMS_MAX * CONTEXT_BYTES + 16,
  grams: ATOMS_MAX * CONTEXT_BYTES + 64,
  /** Needle and mask, one pair per atom. */
  needles: 32_768,
  bitmaps: 32_768 + ATOMS_MAX * NEEDLE_BYTES_MAX * 2,
  matches: 1_048_576,
  located: 1_048_576 + MATCHES_MAX * 8,
  text: 2_097_152,
  textEnd: 3_145_728,
  rows: 3_145_728,
  rowsEnd: 8_388_608,
} as const;

export const SCRATCH_BYTES: number = scratchLayout.rowsEnd;
export const CONTEXT_STRIDE: number = CONTEXT_BYTES;
