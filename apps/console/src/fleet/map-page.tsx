/** The map of nodes and shards: what is where, in which state, how much it carries, and what moves, as it moves. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { compareNames } from "../ui/compare-names.ts";
import { formatCount, plural } from "../ui/format.ts";
import { STATES, type FleetModel } from "./feed/model.ts";
import { Choice, FilterField } from "./filter-field.tsx";
import type { Live } from "./feed/use-fleet.ts";
import { FleetPage } from "./fleet-page.tsx";
import { MapView } from "./map/map-view.tsx";
import type { Mode } from "./map/picture.ts";
import { SIGNS } from "./state-mark.tsx";
import { useQuery } from "./use-query.ts";
import "./overview.css";

const MODES: Readonly<Record<string, Mode>> = { "colour by load": "load", "colour by size": "size" };

export default function MapPage(): JSX.Element {
  return (
    <FleetPage
      title="Map"
      about={(model) =>
        `${plural(model.members, "node")}, ${plural(
          STATES.reduce((sum, state) => sum + model.totals[state], 0),
          "replica",
        )}`
      }
      need={{ replicas: true }}
    >
      {(model, version) => <Map model={model} version={version} />}
    </FleetPage>
  );
}

function Map({ model, version }: Live): JSX.Element {
  const { query, set } = useQuery();
  const { q = "", service = "", state = "", by = "" } = query;
  const shownNodes = model.nodes.filter((node) => node.member || node.held > 0);
  const nodes = useMemo(
    () =>
      shownNodes
        .toSorted((a, b) => compareNames(a.zone, b.zone) || compareNames(a.node, b.node))
        .map(({ i }) => i),
    [model, shownNodes.map(({ i }) => i).join()],
  );
  const passes = useMemo(() => filterOf(model, { q, service, state }), [model, q, service, state]);
  const { totals } = model;
  return (
    <div class="stack tight">
      <div class="filters">
        <FilterField label="Shard or node" value={q} change={(text) => set({ q: text })} />
        <Choice
          label="All services"
          value={service}
          options={model.services.map((one) => one.service)}
          change={(value) => set({ service: value })}
        />
        <Choice label="All states" value={state} options={STATES} change={(value) => set({ state: value })} />
        <Choice
          label="Colour by state"
          value={by}
          options={Object.keys(MODES)}
          change={(value) => set({ by: value })}
        />
      </div>
      <ul class="legend" aria-label="Replicas by state">
        {STATES.map((one) => (
          <li key={one} class={`state state-${one}`}>
            <i aria-hidden="true">{SIGNS[one]}</i> {formatCount(totals[one])} {one}
          </li>
        ))}
      </ul>
      <MapView model={model} version={version} mode={MODES[by] ?? "state"} passes={passes} nodes={nodes} />
    </div>
  );
}

/** Undefined when everything passes. */
function filterOf(
  model: FleetModel,
  { q, service, state }: { readonly q: string; readonly service: string; readonly state: string },
): ((i: number) => boolean) | undefined {
  if (q === "" && service === "" && state === "") return undefined;
  const wanted = q.toLowerCase();
  const wantedService = model.services.findIndex((one) => one.service === service);
  const wantedState = STATES.findIndex((one) => one === state);
  const nodes = new Set(
    wanted === ""
      ? []
      : model.nodes.filter(({ node }) => node.toLowerCase().includes(wanted)).map(({ i }) => i),
  );
  return (i) =>
    (service === "" || model.service[i] === wantedService) &&
    (state === "" || model.state[i] === wantedState) &&
    (wanted === "" || nodes.has(model.holder[i]!) || model.shards[i]!.toLowerCase().includes(wanted));
}
