/** The attempts of a job, the last one first: who ran it, how long, and its result or what went wrong. */
import type { JSX } from "preact";
import { formatDuration, formatTime } from "../../ui/format.ts";
import type { Attempt, JobStatus } from "./jobs-api.ts";
import { shown } from "./payload.ts";
import { StatusMark } from "./status-mark.tsx";

export function AttemptList({ attempts }: { readonly attempts: readonly Attempt[] }): JSX.Element {
  if (attempts.length === 0) return <p class="muted">No worker has begun it yet.</p>;
  return (
    <ol class="attempts">
      {[...attempts].reverse().map((attempt) => (
        <li key={attempt.number} class="card">
          <AttemptDetails attempt={attempt} />
        </li>
      ))}
    </ol>
  );
}

function AttemptDetails({ attempt }: { readonly attempt: Attempt }): JSX.Element {
  const { number, startedAtMs, finishedAtMs, worker, outcome, result, code, data } = attempt;
  const { message, stack, rest } = failureIn(data);
  return (
    <>
      <div class="row">
        <b>Attempt {number}</b>
        <StatusMark status={(outcome ?? "running") as JobStatus} />
        <span class="grow" />
        <span class="muted">
          {finishedAtMs === undefined ? "since " : `${formatDuration(finishedAtMs - startedAtMs)}, from `}
          {formatTime(startedAtMs)} on <code>{worker}</code>
        </span>
      </div>
      {code !== undefined && (
        <p>
          <code>{code}</code>
          {message !== undefined && `: ${message}`}
        </p>
      )}
      {stack !== undefined && (
        <details>
          <summary class="muted">Where</summary>
          <pre class="value">{stack}</pre>
        </details>
      )}
      {rest !== undefined && <pre class="value">{shown(rest)}</pre>}
      {result !== undefined && <pre class="value">{shown(result)}</pre>}
    </>
  );
}

/** Workers of ours say `message` and `stack`; others may say anything. */
function failureIn(data: unknown): { message?: string; stack?: string; rest?: unknown } {
  if (data === undefined) return {};
  const { message, stack } = (typeof data === "object" && data !== null ? data : {}) as {
    message?: unknown;
    stack?: unknown;
  };
  if (typeof message !== "string") return { rest: data };
  return { message, ...(typeof stack === "string" ? { stack } : {}) };
}
