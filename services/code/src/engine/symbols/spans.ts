/** Where the symbols that a tags program named are in the text: it says the line, not the column. */
import type { SymbolSpan } from "../document.ts";
import { isWordByte } from "../rank/score.ts";
import { NAME_BYTES_MAX } from "../segment/symbols.ts";

export interface Tag {
  readonly name: string;
  readonly kind: string;
  /** From 1. */
  readonly line: number;
  readonly parent: string;
  readonly parentKind: string;
}

/** In rising order, none over another; a name that its line does not have, or that is too long for one, is left out. */
export function spansOf(content: Buffer, tags: readonly Tag[]): SymbolSpan[] {
  const lines = lineStarts(content);
  const spans: SymbolSpan[] = [];
  for (const { name, kind, line, parent, parentKind } of tags) {
    const from = lines[line - 1];
    if (from === undefined || name === "") continue;
    const bytes = Buffer.from(name);
    if (bytes.length > NAME_BYTES_MAX) continue;
    const start = find(content, bytes, from, lines[line] ?? content.length);
    if (start !== -1) spans.push({ start, end: start + bytes.length, kind, parent, parentKind });
  }
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  let end = 0;
  return spans.filter((span) => {
    if (span.start < end) return false;
    end = span.end;
    return true;
  });
}

/** As a whole word if there is one, else anywhere. */
function find(content: Buffer, name: Buffer, from: number, to: number): number {
  // No further: things without a name get one that is nowhere in the text, and there may be thousands.
  const line = content.subarray(0, to);
  const first = line.indexOf(name, from);
  for (let at = first; at !== -1; at = line.indexOf(name, at + 1)) {
    const before = at > 0 && isWordByte(content[at - 1]!);
    const after = at + name.length < content.length && isWordByte(content[at + name.length]!);
    if (!before && !after) return at;
  }
  return first;
}

function lineStarts(content: Buffer): number[] {
  const starts = [0];
  for (let at = content.indexOf(10); at !== -1; at = content.indexOf(10, at + 1)) starts.push(at + 1);
  return starts;
}
