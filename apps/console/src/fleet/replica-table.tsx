/** Replicas as a table: who holds each, since when, at which epoch, and what is in the way. It shows numbers of rows; the page chooses which. */
import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import { Empty } from "../ui/empty.tsx";
import { formatAgo, formatBytes, formatNumber, formatPercent } from "../ui/format.ts";
import { Table, type Column } from "../ui/table.tsx";
import type { FleetModel } from "./feed/model.ts";
import type { Live } from "./feed/use-fleet.ts";
import { NodeLink, ReplicaLink, shardHref } from "./links.tsx";
import { StateMark } from "./state-mark.tsx";

export function ReplicaTable({
  model,
  rows,
  label,
  rowsMax = 20,
}: Live & {
  readonly rows: readonly number[];
  readonly label: string;
  readonly rowsMax?: number;
}): JSX.Element {
  const { route } = useLocation();
  const weighed = rows.some((i) => model.load[i]! >= 0 || model.bytes[i]! >= 0);
  const columns: Column<number>[] = [
    { id: "shard", title: "Shard", cell: (i) => <ReplicaLink model={model} i={i} /> },
    { id: "state", title: "State", width: "8rem", cell: (i) => <StateMark state={model.stateOf(i)} /> },
    { id: "holder", title: "Holder", cell: (i) => <NodeLink node={model.nodeName(model.holder[i]!)} /> },
    { id: "goes", title: "On its way to", wide: true, cell: (i) => goesTo(model, i) },
    {
      id: "epoch",
      title: "Epoch",
      wide: true,
      number: true,
      width: "9rem",
      cell: (i) => (model.revision[i]! > 0 ? `${model.era[i]}.${model.revision[i]}` : ""),
    },
    ...(weighed
      ? [
          {
            id: "weight",
            title: "Carries",
            wide: true,
            number: true,
            width: "8rem",
            cell: (i: number) => weight(model, i),
          },
        ]
      : []),
    {
      id: "since",
      title: "Since",
      wide: true,
      number: true,
      width: "8rem",
      cell: (i) => (model.since[i]! > 0 ? formatAgo(model.since[i]! * 1_000) : ""),
    },
  ];
  return (
    <Table
      label={label}
      columns={columns}
      rows={rows}
      keyOf={(i) => i}
      rowsMax={rowsMax}
      open={(i) => route(shardHref(model.serviceName(i), model.shards[i] ?? ""))}
      empty={<Empty title="No replica matches" />}
    />
  );
}

function weight(model: FleetModel, i: number): string {
  const load = model.load[i]!;
  const bytes = model.bytes[i]!;
  return [load >= 0 ? formatNumber(load) : "", bytes >= 0 ? formatBytes(bytes) : ""]
    .filter(Boolean)
    .join(" · ");
}

function goesTo(model: FleetModel, i: number): JSX.Element | string {
  const [contender] = model.contenders.get(i) ?? [];
  const strikes = model.strikes[i]!;
  if (contender) {
    const [node, phase, progress] = contender;
    return (
      <span>
        <NodeLink node={model.nodeName(node)} />{" "}
        <span class="muted">{phase === "ready" ? "ready" : formatPercent(progress)}</span>
      </span>
    );
  }
  const target = model.target[i]!;
  if (target >= 0 && target !== model.holder[i]) return <NodeLink node={model.nodeName(target)} />;
  return strikes > 0 ? `${strikes} strikes` : "";
}
