/** A failure as a person wants to read it: what happened, what to do, and the code for whoever looks it up. */
import type { JSX } from "preact";
import type { Problem } from "../api/problem.ts";
import "./notes.css";

export function ProblemNote({
  problem,
  again,
}: {
  readonly problem: Problem;
  /** Offers to try again. */
  readonly again?: (() => void) | undefined;
}): JSX.Element {
  const { message, advice, code, requestId, issues } = problem;
  return (
    <div class="note error" role="alert">
      <p>{sentence(message)}</p>
      {issues.length > 1 && (
        <ul>
          {issues.map(({ at, message: text }) => (
            <li key={at}>
              <code>{at}</code>: {text}
            </li>
          ))}
        </ul>
      )}
      {advice !== undefined && <p class="muted">{advice}</p>}
      <p class="muted">
        <code>{code}</code>
        {requestId !== undefined && (
          <>
            {" · request "}
            <code>{requestId}</code>
          </>
        )}
      </p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** The gateway's messages are parts of sentences; on the page they stand alone. */
function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(begun) ? begun : `${begun}.`;
}
