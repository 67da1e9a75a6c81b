/** Events, the latest first, each with a link to what it is about. */
import type { JSX } from "preact";
import { formatDate, formatTime } from "../ui/format.ts";
import type { FleetEvent } from "./feed/frames.ts";
import { aboutHref, nodeHref } from "./links.tsx";
import "./events.css";

/** What deserves a second look. */
const LOUD: ReadonlySet<string> = new Set(["lost", "trouble", "era"]);

export function EventList({ events }: { readonly events: readonly FleetEvent[] }): JSX.Element {
  return (
    <ol class="events" aria-label="Events, the latest first">
      {events.map((event) => {
        const href = aboutHref(event.about) ?? (event.node === undefined ? undefined : nodeHref(event.node));
        return (
          <li key={event.seq} class={LOUD.has(event.kind) ? "loud" : ""}>
            <time dateTime={new Date(event.at).toISOString()} title={formatDate(event.at)}>
              {formatTime(event.at)}
            </time>
            <span class="kind">{event.kind}</span>
            <span class="text">{href === undefined ? event.text : <a href={href}>{event.text}</a>}</span>
          </li>
        );
      })}
    </ol>
  );
}
