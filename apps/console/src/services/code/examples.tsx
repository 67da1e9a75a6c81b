/** What the search page shows before anything is asked: queries to try, and what can be searched. */
import type { JSX } from "preact";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { useAnswer } from "../../ui/use-answer.ts";
import { listRepositories } from "./code-api.ts";

const EXAMPLES: readonly (readonly [query: string, about: string])[] = [
  ["sym:open", "names of functions, classes and the like"],
  ["import lang:typescript", "in files of one language"],
  [String.raw`class \w+Error`, "a regular expression"],
  ["file:test -file:fixtures", "by path, with and without"],
  ['"not found" or NOT_FOUND', "one or the other"],
  ["case:yes README", "as it is written"],
];

export function Examples({ change }: { readonly change: (query: string) => void }): JSX.Element {
  const { value, problem } = useAnswer("repositories", (signal) => listRepositories({ limit: 1 }, signal));
  return (
    <div class="stack">
      {problem && <ProblemNote problem={problem} />}
      {value && (
        <p class="muted">
          {value.total === 0 ? (
            <>
              There is nothing to search yet: <a href="/console/code/repositories">add a repository</a>.
            </>
          ) : (
            <>
              <a href="/console/code/repositories">
                {value.total.toLocaleString("en")} {value.total === 1 ? "repository" : "repositories"}
              </a>{" "}
              can be searched. Words are joined by “and”; <kbd>n</kbd> and <kbd>p</kbd> go from match to
              match.
            </>
          )}
        </p>
      )}
      <ul class="examples">
        {EXAMPLES.map(([query, about]) => (
          <li key={query}>
            <button type="button" class="plain mono" onClick={() => change(query)}>
              {query}
            </button>
            <span class="muted">{about}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
