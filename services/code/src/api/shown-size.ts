/** About what a file of an answer takes while zoekt's JSON is made of it: as objects or as text, whichever is more. Answers are cut by this count. */
import { bytesOfFile, type FileMatch } from "../engine/index.ts";

/** A line by itself, besides its text. */
const LINE_BYTES = 120;

export interface ShownAs {
  /** Every line is shown by itself, however many one match is on. */
  readonly linesApart: boolean;
  /** Around each of them. */
  readonly contextLines: number;
}

export function shownSize(file: FileMatch, { linesApart, contextLines }: ShownAs): number {
  let bytes = bytesOfFile(file);
  if (!linesApart) return bytes;
  for (const { line, ranges, text } of file.lines) {
    const more = (ranges.at(-1)?.end.line ?? line) - line;
    // Each of them is shown around its neighbours too, as far as these go.
    if (more > 0) bytes += more * LINE_BYTES + text.length * Math.min(2 * contextLines, more);
  }
  return bytes;
}
