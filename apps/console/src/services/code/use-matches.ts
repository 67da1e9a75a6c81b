/** What a query finds in one file: the ranges of each line. The fleet does the finding, so that a file shows just what the search did. */
import { useEffect, useState } from "preact/hooks";
import { asProblem, isAbort, Problem } from "../../api/problem.ts";
import { search, type Question } from "./code-api.ts";
import { fileFilter, literalFilters, repositoryFilter } from "./query-filters.ts";
import { queryProblem, type QueryProblem } from "./query-problem.ts";
import { bytesOf, firstLineOf, rangesOf, textOf, type Range } from "./text-bytes.ts";

export interface Matches {
  /** By line, from 1, in order. */
  readonly lines: ReadonlyMap<number, readonly Range[]>;
  readonly searching: boolean;
  readonly wrong: QueryProblem | undefined;
  readonly problem: Problem | undefined;
}

const LINES_MAX = 5_000;
const NONE: Matches = { lines: new Map(), searching: false, wrong: undefined, problem: undefined };

export function useMatches(repository: string, path: string, question: Question): Matches {
  const [state, setState] = useState(NONE);
  const { text, literal, matchCase } = question;
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the parts of the question say when it changes.
  useEffect(() => {
    setState({ ...NONE, searching: text.trim() !== "" });
    if (text.trim() === "") return undefined;
    const controller = new AbortController();
    find(repository, path, question, controller.signal)
      .then((found) => {
        if (!controller.signal.aborted) setState(found);
      })
      .catch((error: unknown) => {
        if (!controller.signal.aborted && !isAbort(error)) setState({ ...NONE, problem: asProblem(error) });
      });
    return () => controller.abort();
  }, [repository, path, text, literal, matchCase]);
  return state;
}

async function find(
  repository: string,
  path: string,
  question: Question,
  signal: AbortSignal,
): Promise<Matches> {
  // In literal mode parentheses are ordinary characters: the filters then hold for the last alternative only, and the file is picked from what comes.
  const before = question.literal ? "" : "( ";
  const filters = question.literal
    ? literalFilters(repository, path)
    : `${repositoryFilter(repository)} ${fileFilter(path)}`;
  const text = `${before}${question.text}${question.literal ? "" : " )"} ${filters}`;
  const lines = new Map<number, readonly Range[]>();
  for await (const event of search({ ...question, text }, { filesMax: 50, matchesMax: LINES_MAX }, signal)) {
    if (event.kind === "error") {
      const { message, at } = queryProblem(event.Error);
      return { ...NONE, wrong: { message, at: at === undefined ? at : Math.max(0, at - before.length) } };
    }
    if (event.kind === "missing") return { ...NONE, problem: new Problem(503, event.Code, event.Why) };
    if (event.kind !== "files" || event.Repository !== repository) continue;
    const file = event.Files.find(({ FileName }) => FileName === path);
    for (const { Line, LineNumber, LineFragments, FileName } of file?.LineMatches ?? []) {
      const bytes = firstLineOf(bytesOf(Line));
      if (!FileName) lines.set(LineNumber, rangesOf(bytes, textOf(bytes), LineFragments ?? []));
    }
  }
  return { ...NONE, lines: new Map([...lines].sort(([a], [b]) => a - b)) };
}
