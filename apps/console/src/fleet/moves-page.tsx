/** What is on the move: hand-overs with their progress, what waits for its turn, and what arrived lately. */
import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import { useMemo } from "preact/hooks";
import { Bar } from "../ui/bar.tsx";
import { Empty } from "../ui/empty.tsx";
import { formatCount, formatPercent, plural } from "../ui/format.ts";
import { Table, type Column } from "../ui/table.tsx";
import { EventList } from "./event-list.tsx";
import type { FleetModel } from "./feed/model.ts";
import type { Live } from "./feed/use-fleet.ts";
import { FleetPage } from "./fleet-page.tsx";
import { NodeLink, ReplicaLink, shardHref } from "./links.tsx";

interface Moving {
  readonly i: number;
  readonly to: number;
  readonly phase: string;
  readonly progress: number;
}

const MOVED: ReadonlySet<string> = new Set(["handed-over", "granted", "released"]);
const ARRIVED_SHOWN = 30;
/** More than anybody reads; the count tells of the rest. */
const rowsMax = 5_000;

export default function MovesPage(): JSX.Element {
  return (
    <FleetPage
      title="Hand-overs"
      about={({ totals }) =>
        totals.moving === 0 ? "nothing is on the move" : `${plural(totals.moving, "replica")} on the move`
      }
      need={{ replicas: true }}
    >
      {(model, version) => <Moves model={model} version={version} />}
    </FleetPage>
  );
}

function Moves({ model, version }: Live): JSX.Element {
  const { route } = useLocation();
  const rows = useMemo(() => movingIn(model), [model, version]);
  const columns: Column<Moving>[] = [
    { id: "shard", title: "Shard", cell: ({ i }) => <ReplicaLink model={model} i={i} /> },
    { id: "from", title: "From", cell: ({ i }) => <NodeLink node={model.nodeName(model.holder[i]!)} /> },
    { id: "to", title: "To", cell: ({ to }) => <NodeLink node={model.nodeName(to)} /> },
    { id: "phase", title: "Stage", width: "6rem", cell: ({ phase }) => phase },
    {
      id: "bar",
      title: "",
      wide: true,
      width: "10rem",
      cell: ({ progress }) => (
        <Bar
          shares={[{ name: "done", value: progress, colour: "moving" }]}
          total={1}
          label={`${formatPercent(progress)} prepared`}
        />
      ),
    },
    {
      id: "progress",
      title: "Prepared",
      number: true,
      wide: true,
      width: "6rem",
      cell: ({ progress }) => formatPercent(progress),
    },
  ];
  const arrived = model.events.filter(({ kind }) => MOVED.has(kind)).slice(-ARRIVED_SHOWN);
  return (
    <>
      <Table
        label="Hand-overs"
        columns={columns}
        rows={rows}
        keyOf={({ i, to }) => `${i} ${to}`}
        open={({ i }) => route(shardHref(model.serviceName(i), model.shards[i] ?? ""))}
        empty={
          <Empty title="Nothing is on the move">A drain, a join or another plan starts hand-overs.</Empty>
        }
      />
      {rows.length === rowsMax && <p class="muted">The first {formatCount(rowsMax)} are shown.</p>}
      <section class="stack">
        <h2>Arrived lately</h2>
        {arrived.length === 0 ? (
          <p class="muted">Nothing changed hands since this page was opened.</p>
        ) : (
          <EventList events={arrived.reverse()} />
        )}
      </section>
    </>
  );
}

/** Those that are furthest first, then those that wait. */
function movingIn(model: FleetModel): Moving[] {
  const found: Moving[] = [];
  for (const [i, list] of model.contenders)
    for (const [node, phase, progress] of list)
      found.push({ i, to: node, phase, progress: phase === "ready" ? 1 : progress });
  found.sort((a, b) => b.progress - a.progress || a.i - b.i);
  for (let i = 0; i < model.size && found.length < rowsMax; i++) {
    if (model.state[i] !== 1 || model.contenders.has(i)) continue;
    found.push({ i, to: model.target[i]!, phase: "waits", progress: 0 });
  }
  return found.slice(0, rowsMax);
}
