/** One node: what it is, how it is, what it holds, and what an operator can ask of it. */
import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { ActionButton } from "../ui/action-button.tsx";
import { Empty } from "../ui/empty.tsx";
import { formatAgo, formatBytes, formatCount, formatDuration, formatNumber, plural } from "../ui/format.ts";
import { Tabs } from "../ui/tabs.tsx";
import { drain, undrain } from "./actions.tsx";
import { EventList } from "./event-list.tsx";
import { report } from "./feed/connection.ts";
import type { NodeReport } from "./feed/frames.ts";
import type { FleetModel, NodeFacts } from "./feed/model.ts";
import { FleetPage } from "./fleet-page.tsx";
import { carries } from "./nodes-page.tsx";
import { ReplicaTable } from "./replica-table.tsx";
import { useQuery } from "./use-query.ts";
import "./overview.css";

export default function NodePage({ params }: { readonly params: { readonly node: string } }): JSX.Element {
  const name = params.node;
  const find = (model: FleetModel): NodeFacts | undefined => model.nodes[model.nodeNumber(name)];
  return (
    <FleetPage
      title={name}
      about={(model) => about(find(model))}
      need={{ replicas: true, node: name }}
      actions={(model) => {
        const node = find(model);
        return node && <Actions node={node} />;
      }}
    >
      {(model, version) => {
        const node = find(model);
        return node ? (
          <Node model={model} node={node} version={version} />
        ) : (
          <Empty title={`There is no node ${name}`}>It may have left: the events tell.</Empty>
        );
      }}
    </FleetPage>
  );
}

function about(node: NodeFacts | undefined): string {
  if (!node) return "";
  return [
    node.member ? "member" : "no member",
    ...(node.manager ? ["the manager"] : []),
    ...(node.drained ? ["drained"] : []),
    `holds ${plural(node.held, "replica")}`,
    ...(node.contending > 0 ? [`gets ready for ${formatCount(node.contending)}`] : []),
  ].join(", ");
}

function Actions({ node }: { readonly node: NodeFacts }): JSX.Element {
  return node.drained ? (
    <ActionButton service="fleet" scope="admin" kind="primary" onClick={() => undrain(node.node)}>
      Undrain
    </ActionButton>
  ) : (
    <ActionButton
      service="fleet"
      scope="admin"
      unavailable={node.member ? undefined : "It is no member: there is nothing to drain."}
      onClick={() => drain(node.node)}
    >
      Drain…
    </ActionButton>
  );
}

function Node({
  model,
  node,
  version,
}: {
  readonly model: FleetModel;
  readonly node: NodeFacts;
  readonly version: number;
}): JSX.Element {
  const rows = useMemo(() => {
    const held = model.seats.of(node.i).filter((i) => i >= 0);
    const coming: number[] = [];
    for (const [i, list] of model.contenders)
      if (list.some(([contender]) => contender === node.i) && model.holder[i] !== node.i) coming.push(i);
    return [...coming, ...held];
  }, [model, node.i, version]);
  const { query, set } = useQuery();
  const events = model.events.filter((event) => event.node === node.node).reverse();
  const wish = model.drains.find((one) => one.node === node.node);
  return (
    <>
      {wish && (
        <div class="note">
          <p>
            {wish.by} wished it drained {formatAgo(wish.since)}
            {wish.reason === "" ? "." : `: ${wish.reason}`}
          </p>
          <p class="muted">
            {node.held === 0
              ? "It holds nothing any more: it can be stopped."
              : `It still holds ${formatCount(node.held)}.`}
          </p>
        </div>
      )}
      <dl class="facts card">
        <Fact name="Address" value={node.address} />
        <Fact name="Zone" value={node.zone === "" ? "none" : node.zone} />
        <Fact name="Version" value={node.version} />
        <Fact name="Capacity" value={formatNumber(node.capacity)} />
        <Fact name="Started" value={node.startedAt > 0 ? formatAgo(node.startedAt) : ""} />
        <Fact name="Carries" value={carries(node)} />
        <Report node={node.node} />
      </dl>
      <Tabs
        label={`About ${node.node}`}
        chosen={query["show"] ?? "replicas"}
        choose={(show) => set({ show: show === "replicas" ? "" : show })}
        tabs={[
          {
            id: "replicas",
            title: "Replicas",
            count: rows.length,
            body: () =>
              rows.length === 0 ? (
                <Empty title="It holds nothing">{node.drained ? "It is drained." : undefined}</Empty>
              ) : (
                <ReplicaTable
                  model={model}
                  version={version}
                  rows={rows}
                  label={`Replicas of ${node.node}`}
                />
              ),
          },
          {
            id: "events",
            title: "Events",
            count: events.length,
            body: () =>
              events.length === 0 ? (
                <Empty title="Nothing to tell">Nothing happened to it since the gateway began to look.</Empty>
              ) : (
                <EventList events={events} />
              ),
          },
        ]}
      />
    </>
  );
}

/** What the node says of itself; rates are from one report to the next. */
function Report({ node }: { readonly node: string }): JSX.Element | null {
  const before = useRef<NodeReport>(undefined);
  const rates = useRef<{ cpu: number; requests: number }>(undefined);
  const last = report.value;
  if (last?.node !== node) return <Fact name="Process" value="asking…" />;
  const now = last.report;
  if (typeof now === "string") return <Fact name="Process" value={`does not answer: ${now}`} />;
  if (before.current !== now) {
    const seconds = before.current?.pid === now.pid ? (now.at - before.current.at) / 1_000 : 0;
    if (seconds > 0 && before.current)
      rates.current = {
        cpu: (now.cpuMs - before.current.cpuMs) / 10 / seconds,
        requests: (now.requests - before.current.requests) / seconds,
      };
    before.current = now;
  }
  return (
    <>
      <Fact name="CPU" value={rates.current ? `${rates.current.cpu.toFixed(0)} % of a core` : "…"} />
      <Fact name="Memory" value={formatBytes(now.rssBytes)} />
      <Fact
        name="Requests"
        value={
          rates.current
            ? `${formatNumber(rates.current.requests)} / s, ${formatCount(now.inflight)} under way`
            : "…"
        }
      />
      <Fact name="Refused" value={`${formatCount(now.refused)} of ${formatCount(now.requests)}`} />
      <Fact name="Up" value={formatDuration(now.uptimeMs)} />
      <Fact
        name="Phases"
        value={Object.entries(now.phases)
          .map(([phase, count]) => `${formatCount(count)} ${phase}`)
          .join(", ")}
      />
    </>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value === "" ? "—" : value}</dd>
    </div>
  );
}
