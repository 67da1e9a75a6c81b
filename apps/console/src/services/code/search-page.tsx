/** Code search: a query, what it finds while it is typed, and filters that edit it. All of it stands in the address. */
import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import { useEffect, useState } from "preact/hooks";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { useCommands } from "../../ui/shortcuts.ts";
import type { ServicePageProps } from "../pages.ts";
import { Examples } from "./examples.tsx";
import { FacetList } from "./facet-list.tsx";
import { questionOf, searchHref } from "./places.ts";
import { QueryField } from "./query-field.tsx";
import { ResultFile } from "./result-file.tsx";
import { useSearch, type Found } from "./use-search.ts";
import "./code.css";

const FILES_FIRST = 30;

export function SearchPage({ query }: ServicePageProps): JSX.Element {
  const { route } = useLocation();
  const question = questionOf(query);
  const [round, setRound] = useState(0);
  const { found, searching, wrong, problem } = useSearch(question, round);
  const again = (): void => setRound((n) => n + 1);
  useCommands(() => [
    { keys: "n", title: "Next match", group: "Code search", run: () => step(1) },
    { keys: "p", title: "Previous match", group: "Code search", run: () => step(-1) },
  ]);
  useEffect(() => {
    if (question.text === "") document.querySelector<HTMLInputElement>("[data-search]")?.focus();
  }, []);
  const change = (next: typeof question): void => route(searchHref(next), true);
  return (
    <Page title="Code search">
      <QueryField
        question={question}
        change={change}
        wrong={wrong}
        label="Search code"
        down={() => step(1)}
        busy={searching}
      />
      {problem && <ProblemNote problem={problem} again={again} />}
      {question.text.trim() === "" && <Examples change={(text) => change({ ...question, text })} />}
      {found && question.text.trim() !== "" && (
        <Answer
          found={found}
          stale={searching && found.question.text !== question.text}
          again={again}
          query={question.text}
          change={(text) => change({ ...question, text })}
        />
      )}
    </Page>
  );
}

function Answer({
  found,
  stale,
  again,
  query,
  change,
}: {
  readonly found: Found;
  readonly stale: boolean;
  readonly again: () => void;
  readonly query: string;
  readonly change: (query: string) => void;
}): JSX.Element {
  const { files, fileCount, lacking, ended, facets, question } = found;
  const [shown, setShown] = useState(FILES_FIRST);
  useEffect(() => setShown(FILES_FIRST), [question.text]);
  return (
    <div class={stale ? "search stale" : "search"}>
      {facets && fileCount > 0 && <FacetList facets={facets} query={query} change={change} />}
      <div class="stack results" aria-busy={!ended}>
        <p class="muted" role="status">
          {counted(found)}
        </p>
        {lacking.length > 0 && (
          <div class="note warning">
            <p>This answer is not complete.</p>
            <ul>
              {lacking.map(({ repository, why }, index) => (
                <li key={index}>
                  {repository !== "" && <b>{repository}: </b>}
                  {why}
                </li>
              ))}
            </ul>
            <button type="button" onClick={again}>
              Search again
            </button>
          </div>
        )}
        {files.slice(0, shown).map((file) => (
          <ResultFile key={`${file.Repository} ${file.FileName}`} file={file} question={question} />
        ))}
        {ended && fileCount === 0 && lacking.length === 0 && (
          <Empty title="Nothing matches">
            Words must all be in one file. Try fewer of them, or take a filter out of the query.
          </Empty>
        )}
        {files.length > shown && (
          <button type="button" onClick={() => setShown(shown + FILES_FIRST)}>
            Show more files
          </button>
        )}
        {ended && files.length <= shown && fileCount > files.length && (
          <p class="muted">The best {files.length} files are shown. A filter leads to the others.</p>
        )}
      </div>
    </div>
  );
}

function counted({ matchCount, fileCount, ended, durationMs }: Found): string {
  const number = (n: number, word: string): string =>
    `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const what = `${number(matchCount, "match").replace(/chs$/, "ches")} in ${number(fileCount, "file")}`;
  return ended
    ? `${what}, ${durationMs < 10 ? durationMs.toFixed(1) : Math.round(durationMs)} ms`
    : `${what} so far`;
}

/** Goes from match to match: they are links, and the browser brings them into sight. */
function step(by: 1 | -1): void {
  const matches = [...document.querySelectorAll<HTMLElement>("[data-match]")];
  const at = matches.indexOf(document.activeElement as HTMLElement);
  const next = matches[at < 0 ? (by > 0 ? 0 : matches.length - 1) : at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
