/** One line of code in colours, with what was searched for marked. */
import type { JSX } from "preact";
import { segments, type Segment } from "./highlight/segments.ts";
import type { Token } from "./highlight/tokens.ts";
import type { Range } from "./text-bytes.ts";

export function CodeLine({
  text,
  tokens,
  ranges,
  part,
}: {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly ranges: readonly Range[];
  /** What of it is shown; all of it when left out. */
  readonly part?: Range;
}): JSX.Element {
  const shown = part ?? { from: 0, to: text.length };
  return (
    <>
      {text.slice(0, shown.from).trim() !== "" && <span class="code-cut">…</span>}
      {segments(text, tokens, ranges, shown).map((segment, index) => (
        <Piece key={index} {...segment} />
      ))}
      {shown.to < text.length && <span class="code-cut">… {text.length - shown.to} more characters</span>}
    </>
  );
}

function Piece({ text, kind, marked }: Segment): JSX.Element {
  const piece = kind === undefined ? <>{text}</> : <span class={`tok-${kind}`}>{text}</span>;
  return marked ? <mark>{piece}</mark> : piece;
}
