/**
 * A search as a page sees it: what has come so far, best first. A new question ends the one before it, in the fleet as well; what was found stays on the page until
 * something newer is there, so that nothing flickers while somebody types.
 */
import { useEffect, useState } from "preact/hooks";
import { asProblem, isAbort, type Problem } from "../../api/problem.ts";
import { search, type Facets, type FoundFile, type Question } from "./code-api.ts";
import { queryProblem, type QueryProblem } from "./query-problem.ts";

interface Lacking {
  readonly repository: string;
  readonly why: string;
}

export interface Found {
  /** The question that this is the answer to. */
  readonly question: Question;
  readonly files: readonly FoundFile[];
  readonly fileCount: number;
  readonly matchCount: number;
  readonly facets: Facets | undefined;
  /** Repositories that did not answer, or not fully, or not with their newest commit. */
  readonly lacking: readonly Lacking[];
  readonly ended: boolean;
  readonly durationMs: number;
}

export interface Search {
  readonly found: Found | undefined;
  readonly searching: boolean;
  readonly wrong: QueryProblem | undefined;
  readonly problem: Problem | undefined;
}

/** Files of each repository, and lines of all of them, that are sent; what the page keeps in all. */
const LIMITS = { filesMax: 40, matchesMax: 400, facets: true };
const FILES_KEPT_MAX = 400;
const LACKING_MAX = 50;
/** Answers that come closer together than this are shown together. */
const SHOW_MS = 60;

const NOTHING: Search = { found: undefined, searching: false, wrong: undefined, problem: undefined };

export function useSearch(question: Question, round: number): Search {
  const [state, setState] = useState<Search>(NOTHING);
  const { text, literal, matchCase } = question;
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the parts of the question say when it changes.
  useEffect(() => {
    if (text.trim() === "") {
      setState(NOTHING);
      return undefined;
    }
    const controller = new AbortController();
    setState((before) => ({ ...before, searching: true, wrong: undefined, problem: undefined }));
    follow(question, controller.signal, setState).catch((error: unknown) => {
      if (controller.signal.aborted || isAbort(error)) return;
      setState((before) => ({ ...before, searching: false, problem: asProblem(error) }));
    });
    return () => controller.abort();
  }, [text, literal, matchCase, round]);
  return state;
}

type Show = (change: (before: Search) => Search) => void;

async function follow(question: Question, signal: AbortSignal, show: Show): Promise<void> {
  let files: FoundFile[] = [];
  let [fileCount, matchCount, shownAt] = [0, 0, performance.now()];
  let facets: Facets | undefined;
  let durationMs = 0;
  const lacking: Lacking[] = [];
  const tell = (ended: boolean): void => {
    if (signal.aborted) return;
    shownAt = performance.now();
    files = files.sort(bestFirst).slice(0, FILES_KEPT_MAX);
    const found = { question, files: [...files], fileCount, matchCount, facets, ended, durationMs };
    show(() => ({
      found: { ...found, lacking: [...lacking] },
      searching: !ended,
      wrong: undefined,
      problem: undefined,
    }));
  };
  const lacks = (repository: string, why: string): void => {
    if (why !== "" && lacking.length < LACKING_MAX) lacking.push({ repository, why });
  };
  for await (const event of search(question, LIMITS, signal)) {
    if (event.kind === "error") {
      const wrong = queryProblem(event.Error);
      show((before) => ({ ...before, searching: false, wrong }));
      return;
    }
    if (event.kind === "begin") lacks("", event.Problem);
    else if (event.kind === "missing") lacks(event.Repository, event.Why);
    else if (event.kind === "files") {
      files.push(...event.Files);
      fileCount += event.FileCount;
      matchCount += event.MatchCount;
      lacks(event.Repository, event.Partial);
      lacks(event.Repository, event.Stale);
    } else {
      ({ FileCount: fileCount, MatchCount: matchCount, Facets: facets } = event);
      durationMs = event.Duration / 1e6;
      tell(true);
      return;
    }
    if (files.length > 0 && performance.now() - shownAt > SHOW_MS) tell(false);
  }
  // The gateway left before the end was said: what is there is not all.
  lacks("", "the answer broke off: search again");
  tell(true);
}

function bestFirst(a: FoundFile, b: FoundFile): number {
  if (a.Score !== b.Score) return b.Score - a.Score;
  return a.Repository + a.FileName < b.Repository + b.FileName ? -1 : 1;
}
