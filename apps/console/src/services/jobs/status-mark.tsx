/** A job's status: a sign and a word, so that it is not told by colour alone. */
import type { JSX } from "preact";
import type { JobStatus } from "./jobs-api.ts";
import "./jobs.css";

const SIGNS: Readonly<Record<JobStatus, string>> = {
  scheduled: "○",
  running: "◐",
  succeeded: "✓",
  failed: "✕",
  cancelled: "–",
};

export function StatusMark({ status }: { readonly status: JobStatus }): JSX.Element {
  return (
    <span class={`job-status ${status}`}>
      <span aria-hidden="true">{SIGNS[status]}</span> {status}
    </span>
  );
}

/** Whether a page follows what happens. */
export function LiveMark({ live }: { readonly live: boolean | undefined }): JSX.Element {
  if (live === undefined) return <span class="live">connecting</span>;
  return (
    <span
      class={live ? "live on" : "live"}
      title={live ? "Follows what happens" : "Not connected: figures may be old"}
    >
      {live ? "live" : "not live"}
    </span>
  );
}
