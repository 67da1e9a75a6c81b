/** One replica of a shard: its holder, its epoch, why it is where it is, who is getting ready for it, and what can be done with it. */
import type { JSX } from "preact";
import { ActionButton } from "../ui/action-button.tsx";
import { Bar } from "../ui/bar.tsx";
import { formatAgo, formatBytes, formatDate, formatPercent, plural } from "../ui/format.ts";
import { move, pin, unpin } from "./actions.tsx";
import type { ReplicaExplanation } from "./explanation.ts";
import type { Live } from "./feed/use-fleet.ts";
import { NodeLink } from "./links.tsx";
import { StateMark } from "./state-mark.tsx";

export function ReplicaCard({
  model,
  version,
  i,
  why,
  several,
}: Live & {
  readonly i: number;
  /** Undefined until nodes have been asked. */
  readonly why: ReplicaExplanation | undefined;
  readonly several: boolean;
}): JSX.Element {
  const holder = model.nodeName(model.holder[i]!);
  const since = model.since[i]! * 1_000;
  const holds = why?.holder;
  return (
    <section class="card stack tight replica-card" aria-label={`Replica ${model.replica[i]}`}>
      <div class="row">
        <h2 class="grow">
          {several && <span class="muted">Replica {model.replica[i]} · </span>}
          <NodeLink node={holder} />
        </h2>
        <StateMark state={model.stateOf(i)} />
      </div>
      <dl class="facts">
        <Line name="Epoch">{model.revision[i]! > 0 ? `${model.era[i]}.${model.revision[i]}` : "—"}</Line>
        <Line name="Since">
          {since > 0 ? <span title={formatDate(since)}>{formatAgo(since)}</span> : "—"}
        </Line>
        <Line name="Came by">
          {holds ? `${holds.how}${holds.from === undefined ? "" : ` from ${holds.from}`}` : "—"}
        </Line>
        <Line name="Size">{model.bytes[i]! >= 0 ? formatBytes(model.bytes[i]!) : "—"}</Line>
      </dl>
      <Why why={why} />
      <Contenders model={model} version={version} i={i} />
      <Actions model={model} version={version} i={i} why={why} />
    </section>
  );
}

function Line({
  name,
  children,
}: {
  readonly name: string;
  readonly children: JSX.Element | string;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const CANDIDATES_SHOWN = 4;

function Why({ why }: { readonly why: ReplicaExplanation | undefined }): JSX.Element {
  if (!why) return <p class="muted">Asking why…</p>;
  const { holder, candidates, planReason, auction, pin: pinned } = why;
  return (
    <div class="why">
      <h3>Why</h3>
      <ul>
        {holder && <li>Held: {holder.reason}.</li>}
        <li>Planned: {planReason}.</li>
        {candidates.length > 0 && (
          <li>
            In line:{" "}
            {candidates.slice(0, CANDIDATES_SHOWN).map((node, index) => (
              <span key={node}>
                {index > 0 && ", "}
                <NodeLink node={node} />
              </span>
            ))}
            {candidates.length > CANDIDATES_SHOWN && ` and ${candidates.length - CANDIDATES_SHOWN} more`}
          </li>
        )}
        {pinned && (
          <li>
            {pinned.once ? "To be moved to" : "Pinned to"} <NodeLink node={pinned.node} /> by {pinned.by}
            {pinned.reason === "" ? "" : `: ${pinned.reason}`}
          </li>
        )}
        {auction?.last !== undefined && <li>Last auction: {auction.last}.</li>}
        {auction?.award && (
          <li>
            Awarded to <NodeLink node={auction.award.node} />: {auction.award.reason}.
          </li>
        )}
        {auction?.move && (
          <li>
            To be moved, says {auction.move.by}: {auction.move.reason}.
          </li>
        )}
        {(auction?.bids.length ?? 0) > 0 && (
          <li>
            Round {auction?.round}: {plural(auction?.bids.length ?? 0, "bid")},{" "}
            {plural(auction?.passes.length ?? 0, "pass", "passes")}.
          </li>
        )}
      </ul>
    </div>
  );
}

function Contenders({ model, i }: Live & { readonly i: number }): JSX.Element | null {
  const contenders = model.contenders.get(i) ?? [];
  if (contenders.length === 0) return null;
  return (
    <div class="contenders">
      <h3>Getting ready</h3>
      {contenders.map(([node, phase, progress]) => (
        <div key={node} class="contender">
          <NodeLink node={model.nodeName(node)} />
          <Bar
            shares={[{ name: "done", value: phase === "ready" ? 1 : progress, colour: "moving" }]}
            total={1}
            label={phase === "ready" ? "ready" : `${formatPercent(progress)} prepared`}
          />
          <span class="number muted">{phase === "ready" ? "ready" : formatPercent(progress)}</span>
        </div>
      ))}
    </div>
  );
}

function Actions({
  model,
  i,
  why,
}: Live & {
  readonly i: number;
  readonly why: ReplicaExplanation | undefined;
}): JSX.Element {
  const about = { service: model.serviceName(i), shard: model.shards[i] ?? "", replica: model.replica[i]! };
  const { placement = "" } = model.services[model.service[i]!] ?? {};
  const holder = model.nodeName(model.holder[i]!);
  const members = model.nodes.filter(({ member }) => member).map(({ node }) => node);
  const others = members.filter((node) => node !== holder);
  const pinned = why?.pin;
  // A ring has no room for wishes: where a shard is follows from the members alone.
  const fixed = placement.startsWith("ring")
    ? "A ring decides from its members alone: nothing can be pinned or moved in it."
    : undefined;
  return (
    <div class="row">
      {pinned && !pinned.once ? (
        <ActionButton service="fleet" scope="admin" onClick={() => unpin(about, pinned.replica)}>
          Unpin…
        </ActionButton>
      ) : (
        <ActionButton
          service="fleet"
          scope="admin"
          unavailable={fixed}
          onClick={() => pin(about, members, holder)}
        >
          Pin…
        </ActionButton>
      )}
      <ActionButton
        service="fleet"
        scope="admin"
        unavailable={fixed ?? (others.length === 0 ? "There is no other node to move it to." : undefined)}
        onClick={() => move(about, others, placement.startsWith("auction"))}
      >
        Move…
      </ActionButton>
    </div>
  );
}
