/** What an operator should look at now, with what to do about it. */
import type { JSX } from "preact";
import { formatAgo } from "../ui/format.ts";
import type { FeedAlert } from "./feed/frames.ts";
import "../ui/notes.css";

export function AlertList({ alerts }: { readonly alerts: readonly FeedAlert[] }): JSX.Element {
  return (
    <div class="stack alerts" role="region" aria-label="Alerts">
      {alerts.map(({ id, level, text, advice, since }) => (
        <div key={id} class={`note ${level}`}>
          <p>
            <strong>{level === "error" ? "Error" : "Warning"}.</strong> {text}{" "}
            <span class="muted">{formatAgo(since)}</span>
          </p>
          <p class="muted">{advice}</p>
        </div>
      ))}
    </div>
  );
}
