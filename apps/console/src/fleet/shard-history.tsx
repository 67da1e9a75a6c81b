/** What happened to a shard: what nodes decided about it, as far back as they remember, and what this page saw. The latest first. */
import type { JSX } from "preact";
import { formatDate, formatTime } from "../ui/format.ts";
import type { ShardExplanation } from "./explanation.ts";
import type { Live } from "./feed/use-fleet.ts";
import { NodeLink } from "./links.tsx";
import "./events.css";

interface Line {
  readonly at: number;
  readonly kind: string;
  readonly node: string | undefined;
  readonly text: string;
}

const linesMax = 200;

export function ShardHistory({
  model,
  service,
  shard,
  why,
}: Live & {
  readonly service: string;
  readonly shard: string;
  readonly why: ShardExplanation | undefined;
}): JSX.Element {
  const prefix = `${service}/${encodeURIComponent(shard)}`;
  const told: Line[] = (why?.replicas ?? []).flatMap(({ replica, decisions }) =>
    decisions.map(({ at, node, kind, reason, epoch }) => ({
      at,
      kind,
      node,
      text: `${(why?.replicas.length ?? 0) > 1 ? `replica ${replica}: ` : ""}${reason}${epoch ? ` (epoch ${epoch.era}.${epoch.revision})` : ""}`,
    })),
  );
  const seen: Line[] = model.events
    .filter(({ about }) => about === prefix || about?.startsWith(`${prefix}/`) === true)
    .map(({ at, kind, node, text }) => ({ at, kind, node, text }));
  const lines = [...told, ...seen].sort((a, b) => b.at - a.at).slice(0, linesMax);
  return (
    <section class="stack tight">
      <h2>History</h2>
      {lines.length === 0 ? (
        <p class="muted">Nothing is remembered: nodes keep what they decided since they started.</p>
      ) : (
        <ol class="events" aria-label="History, the latest first">
          {lines.map(({ at, kind, node, text }, index) => (
            <li key={`${at} ${kind} ${index}`}>
              <time dateTime={new Date(at).toISOString()} title={formatDate(at)}>
                {formatTime(at)}
              </time>
              <span class="kind">{kind}</span>
              <span class="text">
                {node !== undefined && (
                  <>
                    <NodeLink node={node} />:{" "}
                  </>
                )}
                {text}
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
