/** All nodes, how much each holds, and which of them deserve a look. */
import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import { useMemo } from "preact/hooks";
import { Bar } from "../ui/bar.tsx";
import { compareNames } from "../ui/compare-names.ts";
import { Empty } from "../ui/empty.tsx";
import { formatAgo, formatBytes, formatCount, formatNumber, plural } from "../ui/format.ts";
import { Table, type Column } from "../ui/table.tsx";
import type { NodeFacts } from "./feed/model.ts";
import { Choice, FilterField } from "./filter-field.tsx";
import type { Live } from "./feed/use-fleet.ts";
import { FleetPage } from "./fleet-page.tsx";
import { nodeHref, NodeLink } from "./links.tsx";
import { useQuery } from "./use-query.ts";
import "./overview.css";

export default function NodesPage(): JSX.Element {
  return (
    <FleetPage
      title="Nodes"
      about={(model) => `${plural(model.members, "member")}; ${plural(model.drains.length, "drain")} wished`}
      need={{ replicas: false }}
    >
      {(model, version) => <Nodes model={model} version={version} />}
    </FleetPage>
  );
}

function Nodes({ model, version }: Live): JSX.Element {
  const { route } = useLocation();
  const { query, set } = useQuery();
  const { q = "", zone = "", sort = "" } = query;
  const drained = "drained" in query;
  const zones = useMemo(
    () => [...new Set(model.nodes.map((node) => node.zone).filter((one) => one !== ""))].sort(),
    [model, version],
  );
  const rows = useMemo(() => {
    const wanted = q.toLowerCase();
    return model.nodes
      .filter((node) => node.member || node.held > 0)
      .filter((node) => `${node.node} ${node.address} ${node.version}`.toLowerCase().includes(wanted))
      .filter((node) => (zone === "" || node.zone === zone) && (!drained || node.drained))
      .sort(ORDERS[sort] ?? byName);
  }, [model, version, q, zone, sort, drained]);
  const heldMax = model.nodes.reduce((most, { held }) => Math.max(most, held), 1);
  const columns: Column<NodeFacts>[] = [
    { id: "node", title: "Node", cell: (node) => <NodeLink node={node.node} /> },
    { id: "is", title: "Is", width: "minmax(5rem, 9rem)", cell: (node) => <Standing node={node} /> },
    {
      id: "held",
      title: "Holds",
      number: true,
      width: "5rem",
      cell: ({ held }) => formatCount(held),
    },
    {
      id: "share",
      title: "",
      wide: true,
      width: "8rem",
      cell: ({ held, contending }) => (
        <Bar
          shares={[
            { name: "held", value: held, colour: "held" },
            { name: "getting ready", value: contending, colour: "moving" },
          ]}
          total={Math.max(heldMax, held + contending)}
          label={`holds ${formatCount(held)}, gets ready for ${formatCount(contending)}`}
        />
      ),
    },
    { id: "load", title: "Carries", number: true, wide: true, width: "9rem", cell: carries },
    { id: "zone", title: "Zone", wide: true, width: "7rem", cell: (node) => node.zone },
    { id: "version", title: "Version", wide: true, width: "6rem", cell: (node) => node.version },
    {
      id: "since",
      title: "Started",
      wide: true,
      number: true,
      width: "8rem",
      cell: ({ startedAt }) => (startedAt > 0 ? formatAgo(startedAt) : ""),
    },
  ];
  return (
    <>
      <div class="filters">
        <FilterField label="Name, address or version" value={q} change={(text) => set({ q: text })} />
        {zones.length > 0 && (
          <Choice label="All zones" value={zone} options={zones} change={(value) => set({ zone: value })} />
        )}
        <Choice
          label="By name"
          value={sort}
          options={Object.keys(ORDERS)}
          change={(value) => set({ sort: value })}
        />
        {drained && (
          <button type="button" onClick={() => set({ drained: "" })}>
            Drained only ×
          </button>
        )}
      </div>
      <Table
        label="Nodes"
        columns={columns}
        rows={rows}
        keyOf={({ i }) => i}
        open={({ node }) => route(nodeHref(node))}
        rowsMax={22}
        empty={<Empty title="No such node">Nothing matches the filter.</Empty>}
      />
    </>
  );
}

const byName = (a: NodeFacts, b: NodeFacts): number => compareNames(a.node, b.node);

const ORDERS: Readonly<Record<string, (a: NodeFacts, b: NodeFacts) => number>> = {
  "most held first": (a, b) => b.held - a.held || byName(a, b),
  "busiest first": (a, b) =>
    (b.load ?? 0) - (a.load ?? 0) || (b.bytes ?? b.heldBytes) - (a.bytes ?? a.heldBytes) || byName(a, b),
  "latest started first": (a, b) => b.startedAt - a.startedAt || byName(a, b),
};

function Standing({ node }: { readonly node: NodeFacts }): JSX.Element {
  const words = [
    ...(node.member ? [] : ["gone"]),
    ...(node.drained ? ["drained"] : []),
    ...(node.manager ? ["manager"] : []),
    ...(node.contending > 0 ? [`+${formatCount(node.contending)}`] : []),
  ];
  return words.length === 0 ? (
    <span class="muted">member</span>
  ) : (
    <span class={node.member ? "" : "state-unheld"}>{words.join(", ")}</span>
  );
}

export function carries(node: NodeFacts): string {
  const bytes = node.bytes ?? (node.heldBytes > 0 ? node.heldBytes : undefined);
  const size =
    bytes === undefined
      ? ""
      : node.budgetBytes === undefined
        ? formatBytes(bytes)
        : `${formatBytes(bytes)} / ${formatBytes(node.budgetBytes)}`;
  if (node.load === undefined) return size;
  return size === "" ? `load ${formatNumber(node.load)}` : `${formatNumber(node.load)} · ${size}`;
}
