import type { FileMatch } from "../engine/index.ts";

/** About what a file takes in an answer: in a frame, in memory, and as JSON. */
export function bytesOfFile({ path, content, lines }: FileMatch): number {
  let bytes = 200 + path.length + (content?.length ?? 0);
  for (const { text, before, after, ranges } of lines)
    bytes += 120 * ranges.length + text.length + (before?.length ?? 0) + (after?.length ?? 0);
  return bytes;
}
