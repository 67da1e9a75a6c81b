/** One file as it is searched: at its commit, with line links, its symbols, and what the query finds in it. */
import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { useCommands } from "../../ui/shortcuts.ts";
import { toast } from "../../ui/toast.tsx";
import { useAnswer } from "../../ui/use-answer.ts";
import type { ServicePageProps } from "../pages.ts";
import { readFile, type CodeFile, type Question } from "./code-api.ts";
import { FileView } from "./file-view.tsx";
import { hashOf, linesOf, type Lines } from "./line-hash.ts";
import { Outline } from "./outline.tsx";
import { fileHref, questionOf, searchHref } from "./places.ts";
import { folderFilter, repositoryFilter } from "./query-filters.ts";
import { QueryField } from "./query-field.tsx";
import { bytesOf, textOf } from "./text-bytes.ts";
import { useMatches } from "./use-matches.ts";
import "./code.css";

const SKIPPED: Readonly<Record<string, string>> = {
  binary: "It is no text.",
  "too-large": "It is too large to be kept in the index.",
  "left-out": "It is left out of the index.",
};

export function FilePage({ params, query }: ServicePageProps): JSX.Element {
  const { repository = "", path = "" } = params;
  const question = questionOf(query);
  const { value, problem, again } = useAnswer(`${repository} ${path}`, (signal) =>
    readFile(repository, path, signal),
  );
  return (
    <Page title={path.split("/").at(-1) ?? path} about={<Crumbs repository={repository} path={path} />}>
      {problem && <ProblemNote problem={problem} again={again} />}
      {value && value.Skipped !== "" && (
        <Empty title="There is nothing to show">{SKIPPED[value.Skipped]}</Empty>
      )}
      {value && value.Skipped === "" && (
        <Content key={`${value.Version} ${path}`} file={value} question={question} />
      )}
      {!value && !problem && <div class="skeleton file-skeleton" />}
    </Page>
  );
}

function Content({ file, question }: { readonly file: CodeFile; readonly question: Question }): JSX.Element {
  const { Repository, FileName, Version, Language, Symbols, Content: content } = file;
  const { route } = useLocation();
  const lines = useMemo(() => linesIn(content), [content]);
  const [chosen, setChosen] = useState<Lines | undefined>(() => linesOf(location.hash));
  const [reveal, setReveal] = useState(0);
  const matches = useMatches(Repository, FileName, question);
  useEffect(() => {
    const look = (): void => {
      setChosen(linesOf(location.hash));
      setReveal((n) => n + 1);
    };
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  const choose = (next: Lines): void => {
    setChosen(next);
    history.replaceState(history.state, "", hashOf(next));
  };
  const go = (line: number): void => {
    choose({ first: line, last: line });
    setReveal((n) => n + 1);
  };
  const found = [...matches.lines.keys()];
  const at = chosen === undefined ? -1 : found.indexOf(chosen.first);
  const step = (by: 1 | -1): void => {
    const here = chosen?.first ?? 0;
    const next =
      by > 0
        ? (found.find((line) => line > here) ?? found[0])
        : (found.findLast((line) => line < here) ?? found.at(-1));
    if (next !== undefined) go(next);
  };
  useCommands(
    () => [
      { keys: "n", title: "Next match", group: "File", run: () => step(1) },
      { keys: "p", title: "Previous match", group: "File", run: () => step(-1) },
    ],
    `${found.join()} ${chosen?.first ?? 0}`,
  );
  return (
    <>
      <div class="row file-tools">
        <div class="grow file-find">
          <QueryField
            question={question}
            change={(next) => route(fileHref(Repository, FileName, next), true)}
            wrong={matches.wrong}
            label="Find in this file"
            busy={matches.searching}
          />
        </div>
        {question.text.trim() !== "" && (
          <span class="row matches">
            <span class="muted number" role="status">
              {matches.searching
                ? "…"
                : `${at < 0 ? "" : `${at + 1} of `}${found.length} ${found.length === 1 ? "line" : "lines"}`}
            </span>
            <button
              type="button"
              aria-label="Previous match"
              title="Previous match (p)"
              onClick={() => step(-1)}
            >
              ↑
            </button>
            <button type="button" aria-label="Next match" title="Next match (n)" onClick={() => step(1)}>
              ↓
            </button>
            <a href={searchHref(question)}>all files</a>
          </span>
        )}
      </div>
      {matches.problem && <ProblemNote problem={matches.problem} />}
      <div class="row muted file-facts">
        <code title={`commit ${Version}`}>{Version.slice(0, 12)}</code>
        {Language !== "" && <span>{Language}</span>}
        <span>
          {lines.length.toLocaleString("en")} {lines.length === 1 ? "line" : "lines"}
        </span>
        <span class="grow" />
        <button type="button" class="plain" onClick={() => void copyLink()}>
          Copy link
        </button>
      </div>
      <div class="file">
        <FileView
          label={FileName}
          lines={lines}
          language={Language}
          matches={matches.lines}
          chosen={chosen}
          choose={choose}
          reveal={reveal}
        />
        <Outline symbols={Symbols} line={chosen?.first} go={go} />
      </div>
    </>
  );
}

/** Every part of the path leads to a search in it. */
function Crumbs({ repository, path }: { readonly repository: string; readonly path: string }): JSX.Element {
  const folders = path.split("/").slice(0, -1);
  const to = (text: string): string => searchHref({ text: `${text} `, literal: false, matchCase: false });
  const inside = repositoryFilter(repository);
  return (
    <nav class="crumbs" aria-label="Path">
      <a href={to(inside)}>{repository}</a>
      {folders.map((name, index) => (
        <span key={index}>
          {" / "}
          <a href={to(`${inside} ${folderFilter(`${folders.slice(0, index + 1).join("/")}/`)}`)}>{name}</a>
        </span>
      ))}
    </nav>
  );
}

async function copyLink(): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    toast("The link is copied.");
  } catch {
    // Without HTTPS browsers forbid it.
    toast("The browser does not allow it: copy the address from its bar.", "error");
  }
}

function linesIn(content: string): readonly string[] {
  const lines = textOf(bytesOf(content)).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}
