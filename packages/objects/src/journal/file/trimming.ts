/** Which segment files nobody needs any more. */
import type { Generation } from "./fence-files.ts";
import type { SegmentFile } from "./journal-folder.ts";

/**
 * Paths of the files all of whose batches lie below `floor` or never counted, the oldest first. `segments` are in order. The file that the last generation
 * writes to stays.
 */
export function removable(
  segments: readonly SegmentFile[],
  generations: readonly Generation[],
  floor: number,
): string[] {
  const removed: string[] = [];
  for (const [at, { path, opening }] of segments.entries()) {
    const generation = generations.find((each) => each.opening === opening);
    const next = segments[at + 1];
    const end = next?.opening === opening ? next.first : (generation?.end ?? Infinity);
    if (Math.min(end, generation?.end ?? Infinity) <= floor) removed.push(path);
  }
  return removed;
}
