/** The field for a query, with its switches: text or expression, and whether case matters. Says where a query is wrong. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Question } from "./code-api.ts";
import type { QueryProblem } from "./query-problem.ts";

/** How long nothing is typed before it is searched for. */
const PAUSE_MS = 130;
/** Beyond this the gateway refuses it. */
const QUERY_CHARS_MAX = 32_768;

export function QueryField({
  question,
  change,
  wrong,
  label,
  down,
  busy,
}: {
  readonly question: Question;
  readonly change: (question: Question) => void;
  readonly wrong?: QueryProblem | undefined;
  readonly label: string;
  /** Goes on to what was found. */
  readonly down?: () => void;
  readonly busy: boolean;
}): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(question.text);
  const waiting = useRef<number | undefined>(undefined);
  const latest = useRef(question);
  latest.current = question;
  const tell = (text: string): void => {
    clearTimeout(waiting.current);
    waiting.current = undefined;
    if (text !== latest.current.text) change({ ...latest.current, text });
  };
  // Changed from elsewhere: a filter, or the way back. What is being typed is newer.
  useEffect(() => {
    if (waiting.current === undefined) setTyped(question.text);
  }, [question.text]);
  useEffect(() => () => clearTimeout(waiting.current), []);

  return (
    <div class="query">
      <div class="query-row" role="search">
        <input
          ref={field}
          class="mono grow"
          type="search"
          data-search=""
          aria-label={label}
          aria-invalid={wrong !== undefined}
          aria-describedby={wrong ? "query-wrong" : undefined}
          placeholder={label}
          value={typed}
          maxLength={QUERY_CHARS_MAX}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={({ currentTarget: { value } }) => {
            setTyped(value);
            clearTimeout(waiting.current);
            waiting.current = window.setTimeout(() => tell(value), PAUSE_MS);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") tell(typed);
            else if (event.key === "ArrowDown" && down) down();
            else return;
            event.preventDefault();
          }}
        />
        <Switch
          title={
            question.literal ? "Text: patterns are taken as they are" : "Patterns are regular expressions"
          }
          label="Regular expressions"
          text=".*"
          on={!question.literal}
          flip={() => change({ ...question, literal: !question.literal })}
        />
        <Switch
          title={
            question.matchCase ? "Case matters" : "Case matters only when the pattern has a capital letter"
          }
          label="Match case"
          text="Aa"
          on={question.matchCase}
          flip={() => change({ ...question, matchCase: !question.matchCase })}
        />
      </div>
      <div class={busy ? "query-progress busy" : "query-progress"} />
      {wrong && (
        <div id="query-wrong" class="note error" role="alert">
          <p>{wrong.message}</p>
          {wrong.at !== undefined && (
            <button
              type="button"
              class="plain mono query-wrong"
              title="Go there"
              onClick={() => {
                field.current?.focus();
                field.current?.setSelectionRange(wrong.at ?? 0, (wrong.at ?? 0) + 1);
              }}
            >
              {around(typed, wrong.at)}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

const AROUND = 40;

/** The query near the place, which is underlined. */
function around(text: string, at: number): JSX.Element {
  return (
    <>
      {at > AROUND && "…"}
      {text.slice(Math.max(0, at - AROUND), at)}
      <u>{text[at] ?? " "}</u>
      {text.slice(at + 1, at + 1 + AROUND)}
    </>
  );
}

function Switch({
  title,
  label,
  text,
  on,
  flip,
}: {
  readonly title: string;
  readonly label: string;
  readonly text: string;
  readonly on: boolean;
  readonly flip: () => void;
}): JSX.Element {
  return (
    <button
      type="button"
      class="mono switch"
      title={title}
      aria-label={label}
      aria-pressed={on}
      onClick={flip}
    >
      {text}
    </button>
  );
}
