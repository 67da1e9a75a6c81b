/**
 * The lines of a file. Only those in sight exist, however many there are, and of a very long line only a part; so a file of two megabytes scrolls like one of
 * twenty lines. Line numbers are links: a click takes one line, with Shift all up to it.
 */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { CodeLine } from "./code-line.tsx";
import { grammarOf } from "./highlight/grammar.ts";
import { LineColours } from "./highlight/line-colours.ts";
import { windowOf } from "./highlight/segments.ts";
import { hashOf, type Lines } from "./line-hash.ts";
import type { Range } from "./text-bytes.ts";

const LINE_PX = 20;
const AROUND = 20;
const LINE_CHARS_MAX = 1_500;
/** Browsers give up on elements that are taller than some 16 million pixels. */
const LINES_MAX = 750_000;
const ROWS_KEPT_MAX = 2_000;
const NO_RANGES: readonly Range[] = [];

export interface FileViewProps {
  readonly label: string;
  readonly lines: readonly string[];
  readonly language: string;
  readonly matches: ReadonlyMap<number, readonly Range[]>;
  readonly chosen: Lines | undefined;
  readonly choose: (lines: Lines) => void;
  /** Changes when the chosen lines should come into sight. */
  readonly reveal: number;
}

export function FileView({
  label,
  lines,
  language,
  matches,
  chosen,
  choose,
  reveal,
}: FileViewProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [round, again] = useReducer((n: number) => n + 1, 0);
  const colours = useMemo(
    () => new LineColours(lines, grammarOf(language), () => again(undefined)),
    [lines, language],
  );
  useEffect(() => () => colours.stop(), [colours]);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (!current) return undefined;
    const observer = new ResizeObserver(() => setHeight(current.clientHeight));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (!current || !chosen) return;
    const from = (chosen.first - 1) * LINE_PX;
    if (from < current.scrollTop || from + LINE_PX > current.scrollTop + current.clientHeight)
      current.scrollTop = Math.max(0, from - current.clientHeight / 3);
  }, [reveal, lines]);

  const count = Math.min(lines.length, LINES_MAX);
  const first = Math.max(0, Math.floor(top / LINE_PX) - AROUND);
  const last = Math.min(count, Math.ceil((top + height) / LINE_PX) + AROUND);
  const digits = String(count).length;
  const widest = useMemo(() => longest(lines), [lines]);
  const onNumber = (event: MouseEvent, line: number): void => {
    event.preventDefault();
    const from = event.shiftKey && chosen ? chosen.first : line;
    choose({ first: Math.min(from, line), last: Math.max(from, line) });
  };
  // A row that stays is the same object, which is not looked at again: scrolling costs what comes into sight.
  const drawn = useMemo(
    () => new Map<number, JSX.Element>(),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the round says that colours have changed.
    [lines, matches, chosen, colours, round],
  );
  const row = (number: number): JSX.Element => {
    const known = drawn.get(number);
    if (known) return known;
    if (drawn.size >= ROWS_KEPT_MAX) drawn.clear();
    const text = lines[number - 1] ?? "";
    const ranges = matches.get(number) ?? NO_RANGES;
    const isChosen = chosen !== undefined && number >= chosen.first && number <= chosen.last;
    const made = (
      <div key={number} class={isChosen ? "file-line chosen" : "file-line"}>
        <a
          class="line-number"
          href={hashOf({ first: number, last: number })}
          style={{ width: `${digits + 3}ch` }}
          onClick={(event) => onNumber(event, number)}
        >
          {number}
        </a>
        <span>
          <CodeLine
            text={text}
            tokens={colours.tokens(number - 1)}
            ranges={ranges}
            part={windowOf(text, ranges, LINE_CHARS_MAX)}
          />
        </span>
      </div>
    );
    drawn.set(number, made);
    return made;
  };
  return (
    <div
      ref={scroller}
      class="code file-view"
      role="region"
      aria-label={label}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, and must with the keyboard.
      tabIndex={0}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <div style={{ height: `${count * LINE_PX}px`, minWidth: `calc(${widest + digits}ch + 4rem)` }}>
        <div style={{ transform: `translateY(${first * LINE_PX}px)` }}>
          {lines.slice(first, last).map((_, offset) => row(first + offset + 1))}
        </div>
      </div>
      {count < lines.length && <p class="muted">The first {count.toLocaleString("en")} lines are shown.</p>}
    </div>
  );
}

function longest(lines: readonly string[]): number {
  let most = 0;
  for (const { length } of lines) if (length > most) most = length;
  return Math.min(most, LINE_CHARS_MAX + 30);
}
