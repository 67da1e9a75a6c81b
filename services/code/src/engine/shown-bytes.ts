/** About what a file of an answer takes: in a frame, in memory, and as JSON. Searches stop keeping and showing matches by this count. */
import type { FileMatch, LineMatch } from "./result.ts";

/** Besides its path, its lines and its content. */
export const FILE_BYTES = 200;
/** A match, besides the line that it is on. */
export const RANGE_BYTES = 120;

/** How a line came by its score, when that is told: about as much as it takes at most. */
export const EXPLAINED_BYTES = 100;

/** With what is around it. */
export function bytesOfLine({ text, before, after, ranges, debug }: LineMatch): number {
  const around = (before?.length ?? 0) + (after?.length ?? 0) + (debug?.length ?? 0);
  return RANGE_BYTES * ranges.length + text.length + around;
}

export function bytesOfFile({ path, content, lines, debug }: FileMatch): number {
  let bytes = FILE_BYTES + path.length + (content?.length ?? 0) + (debug?.length ?? 0);
  for (const line of lines) bytes += bytesOfLine(line);
  return bytes;
}
