/** One file of a search's answer: where it is, at which commit, and its best lines. Every line is a link to its place. */
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { FoundFile, LineMatch, Question } from "./code-api.ts";
import { CodeLine } from "./code-line.tsx";
import { grammarOf } from "./highlight/grammar.ts";
import { windowOf } from "./highlight/segments.ts";
import { tokenize } from "./highlight/tokens.ts";
import { fileHref } from "./places.ts";
import { bytesOf, firstLineOf, rangesOf, textOf } from "./text-bytes.ts";

const LINES_FIRST = 6;
const LINE_CHARS_MAX = 240;

export function ResultFile({
  file,
  question,
}: {
  readonly file: FoundFile;
  readonly question: Question;
}): JSX.Element {
  const { FileName, Repository, Version, Language, LineMatches } = file;
  const [all, setAll] = useState(false);
  const lines = (LineMatches ?? []).filter((line) => !line.FileName);
  const name = (LineMatches ?? []).find((line) => line.FileName);
  // The best come first in an answer; of those that are shown people read from the top.
  const shown = (all ? lines : lines.slice(0, LINES_FIRST)).toSorted((a, b) => a.LineNumber - b.LineNumber);
  const { text, literal, matchCase } = question;
  // Colours are worked out once: while answers come in, most files stay as they are.
  const drawn = useMemo(
    () =>
      shown.map((line) => <ResultLine key={line.LineNumber} line={line} file={file} question={question} />),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the parts of the question say when it changes.
    [file, all, text, literal, matchCase],
  );
  return (
    <article class="result">
      <header>
        <a
          class="result-name"
          href={fileHref(Repository, FileName, question)}
          data-match={name ? "" : undefined}
        >
          <span class="muted">{Repository}</span>
          <span class="muted" aria-hidden="true">
            {" › "}
          </span>
          {name ? <Marked line={name} /> : <b>{FileName}</b>}
        </a>
        <span class="grow" />
        {Language !== "" && <span class="muted wide-only">{Language}</span>}
        <code class="muted" title={`commit ${Version}`}>
          {Version.slice(0, 8)}
        </code>
      </header>
      {shown.length > 0 && <div class="result-lines">{drawn}</div>}
      {lines.length > shown.length && (
        <button type="button" class="plain result-more" onClick={() => setAll(true)}>
          {lines.length - shown.length} more {lines.length - shown.length === 1 ? "line" : "lines"}
        </button>
      )}
    </article>
  );
}

function ResultLine({
  line,
  file: { Repository, FileName, Language },
  question,
}: {
  readonly line: LineMatch;
  readonly file: FoundFile;
  readonly question: Question;
}): JSX.Element {
  const { LineNumber: first, Line, LineFragments } = line;
  const bytes = firstLineOf(bytesOf(Line));
  const text = textOf(bytes);
  const ranges = rangesOf(bytes, text, LineFragments ?? []);
  const indent = /^[ \t]*/.exec(text)?.[0].length ?? 0;
  const part = windowOf(text, ranges, LINE_CHARS_MAX);
  return (
    <a
      class="code result-line"
      data-match=""
      href={fileHref(Repository, FileName, question, { first, last: first })}
    >
      <span class="line-number">{first}</span>
      <span class="result-text">
        <CodeLine
          text={text}
          tokens={tokenize(text, grammarOf(Language)).tokens}
          ranges={ranges}
          // Results stand below each other from many places: their indentation says nothing.
          part={part.from === 0 && (ranges[0]?.from ?? 0) >= indent ? { ...part, from: indent } : part}
        />
      </span>
    </a>
  );
}

/** A name with what was found in it. */
function Marked({ line }: { readonly line: LineMatch }): JSX.Element {
  const bytes = bytesOf(line.Line);
  const text = textOf(bytes);
  return (
    <b>
      <CodeLine text={text} tokens={[]} ranges={rangesOf(bytes, text, line.LineFragments ?? [])} />
    </b>
  );
}
