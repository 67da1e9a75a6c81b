/** Every replica of the fleet, narrowed down by service, state, node and name. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { formatCount, plural } from "../ui/format.ts";
import { STATES } from "./feed/model.ts";
import { Choice, FilterField } from "./filter-field.tsx";
import type { Live } from "./feed/use-fleet.ts";
import { FleetPage } from "./fleet-page.tsx";
import { ReplicaTable } from "./replica-table.tsx";
import { useQuery } from "./use-query.ts";
import "./overview.css";

export default function ShardsPage(): JSX.Element {
  return (
    <FleetPage
      title="Shards"
      about={({ services }) =>
        `${plural(
          services.reduce((sum, { shards }) => sum + shards, 0),
          "shard",
        )} of ${plural(services.length, "service")}`
      }
      need={{ replicas: true }}
    >
      {(model, version) => <Shards model={model} version={version} />}
    </FleetPage>
  );
}

/** With many rows the list is made anew less often than the picture changes. */
const LARGE = 20_000;

function Shards({ model, version }: Live): JSX.Element {
  const { query, set } = useQuery();
  const { q = "", service = "", state = "", node = "" } = query;
  const round = model.size > LARGE ? Math.floor(version / 4) : version;
  const rows = useMemo(() => {
    const wanted = q.toLowerCase();
    const wantedService = service === "" ? -1 : model.services.findIndex((one) => one.service === service);
    const wantedState = STATES.findIndex((one) => one === state);
    const wantedNode = node === "" ? undefined : model.nodeNumber(node);
    const found: number[] = [];
    for (let i = 0; i < model.size; i++) {
      if (!model.exists(i)) continue;
      if (service !== "" && model.service[i] !== wantedService) continue;
      if (wantedState >= 0 && model.state[i] !== wantedState) continue;
      if (wantedNode !== undefined && model.holder[i] !== wantedNode && model.target[i] !== wantedNode)
        continue;
      if (wanted !== "" && !model.shards[i]!.toLowerCase().includes(wanted)) continue;
      found.push(i);
    }
    return found;
  }, [model, round, q, service, state, node]);
  return (
    <>
      <div class="filters">
        <FilterField label="Name of a shard" value={q} change={(text) => set({ q: text })} />
        <Choice
          label="All services"
          value={service}
          options={model.services.map((one) => one.service)}
          change={(value) => set({ service: value })}
        />
        <Choice label="All states" value={state} options={STATES} change={(value) => set({ state: value })} />
        {node !== "" && (
          <button type="button" onClick={() => set({ node: "" })}>
            On {node} ×
          </button>
        )}
        <span class="muted" role="status">
          {plural(rows.length, "replica")}
          {rows.length === 0 && model.size > 0 ? ` of ${formatCount(model.size)}` : ""}
        </span>
      </div>
      <ReplicaTable model={model} version={version} rows={rows} label="Replicas" rowsMax={22} />
    </>
  );
}
