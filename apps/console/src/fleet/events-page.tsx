/** What happened in the fleet since the gateway began to look, as it happens. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Empty } from "../ui/empty.tsx";
import { plural } from "../ui/format.ts";
import { EventList } from "./event-list.tsx";
import { Choice, FilterField } from "./filter-field.tsx";
import type { Live } from "./feed/use-fleet.ts";
import { FleetPage } from "./fleet-page.tsx";
import { useQuery } from "./use-query.ts";
import "./overview.css";

const SHOWN_MAX = 300;

export default function EventsPage(): JSX.Element {
  return (
    <FleetPage
      title="Events"
      about={() => "the latest first; this page keeps the last 500"}
      need={{ replicas: false }}
    >
      {(model, version) => <Events model={model} version={version} />}
    </FleetPage>
  );
}

function Events({ model, version }: Live): JSX.Element {
  const { query, set } = useQuery();
  const { q = "", kind = "" } = query;
  const kinds = useMemo(() => [...new Set(model.events.map((event) => event.kind))].sort(), [model, version]);
  const shown = useMemo(() => {
    const wanted = q.toLowerCase();
    return model.events
      .filter((event) => (kind === "" || event.kind === kind) && event.text.toLowerCase().includes(wanted))
      .slice(-SHOWN_MAX)
      .reverse();
  }, [model, version, q, kind]);
  return (
    <>
      <div class="filters">
        <FilterField label="Node, shard or word" value={q} change={(text) => set({ q: text })} />
        <Choice label="All kinds" value={kind} options={kinds} change={(value) => set({ kind: value })} />
        <span class="muted" role="status">
          {plural(shown.length, "event")}
        </span>
      </div>
      {shown.length === 0 ? (
        <Empty title="Nothing to tell">
          Nothing that matches has happened since the gateway began to look.
        </Empty>
      ) : (
        <EventList events={shown} />
      )}
    </>
  );
}
