/** The fleet in one look: whether all is well, what is not, who holds how much, and what happened last. */
import type { JSX } from "preact";
import { Bar } from "../ui/bar.tsx";
import { formatCount, plural } from "../ui/format.ts";
import { Table, type Column } from "../ui/table.tsx";
import { AlertList } from "./alert-list.tsx";
import { EventList } from "./event-list.tsx";
import type { FeedService, ReplicaState } from "./feed/frames.ts";
import { STATES, type FleetModel } from "./feed/model.ts";
import type { Live } from "./feed/use-fleet.ts";
import { FleetPage } from "./fleet-page.tsx";
import { NodeLink } from "./links.tsx";
import { SIGNS } from "./state-mark.tsx";
import "./overview.css";

const EVENTS_SHOWN = 12;

export default function OverviewPage(): JSX.Element {
  return (
    <FleetPage title="Overview" about={(model) => summary(model)} need={{ replicas: false }}>
      {(model, version) => (
        <>
          <Health model={model} version={version} />
          {model.alerts.length > 0 && <AlertList alerts={model.alerts} />}
          <States model={model} version={version} />
          <Services model={model} version={version} />
          <section class="stack tight">
            <div class="row">
              <h2 class="grow">Latest events</h2>
              <a href="/console/events">All events</a>
            </div>
            {model.events.length === 0 ? (
              <p class="muted">Nothing has happened since this gateway began to look.</p>
            ) : (
              <EventList events={model.events.slice(-EVENTS_SHOWN).reverse()} />
            )}
          </section>
        </>
      )}
    </FleetPage>
  );
}

function summary(model: FleetModel): string {
  const { status } = model;
  const era = status?.era ? `, era ${status.era.era}` : "";
  return `${plural(model.members, "node")}, ${plural(model.services.length, "service")}${era}`;
}

function Health({ model }: Live): JSX.Element {
  const { totals, alerts } = model;
  const all = STATES.reduce((sum, state) => sum + totals[state], 0);
  const bad = alerts.some(({ level }) => level === "error");
  const kind = bad ? "error" : alerts.length > 0 ? "warning" : "good";
  const text = bad
    ? "Something needs attention"
    : alerts.length > 0
      ? "Working, with warnings"
      : all === 0
        ? "No shards yet"
        : "All is well";
  const missing = totals.unheld + totals.quarantined;
  return (
    <div class={`health health-${kind}`} role="status">
      <span class="health-sign" aria-hidden="true">
        {bad ? "!" : alerts.length > 0 ? "▲" : "✓"}
      </span>
      <div>
        <strong>{text}</strong>
        <p class="muted">
          {missing === 0
            ? `Every one of ${plural(all, "replica")} is held`
            : `${plural(missing, "replica")} of ${formatCount(all)} ${missing === 1 ? "has" : "have"} no holder`}
          {totals.moving > 0 ? `; ${formatCount(totals.moving)} on the move` : ""}.
          {model.status?.manager && (
            <>
              {" "}
              <NodeLink node={model.status.manager.node} /> is the manager.
            </>
          )}
        </p>
      </div>
    </div>
  );
}

function States({ model }: Live): JSX.Element {
  const { totals } = model;
  return (
    <ul class="figures" aria-label="Replicas by state">
      {STATES.map((state) => (
        <li key={state}>
          <a href={`/console/shards?state=${state}`}>
            <span class={`state state-${state}`}>
              <i aria-hidden="true">{SIGNS[state]}</i> {state}
            </span>
            <strong class="number">{formatCount(totals[state])}</strong>
          </a>
        </li>
      ))}
      <li>
        <a href="/console/nodes">
          <span>nodes</span>
          <strong class="number">{formatCount(model.members)}</strong>
        </a>
      </li>
      <li>
        <a href="/console/nodes?drained">
          <span>drained</span>
          <strong class="number">{formatCount(model.drains.length)}</strong>
        </a>
      </li>
    </ul>
  );
}

function Services({ model }: Live): JSX.Element {
  const number = (state: ReplicaState): Column<FeedService> => ({
    id: state,
    title: state.charAt(0).toUpperCase() + state.slice(1),
    number: true,
    wide: state !== "held",
    width: "minmax(3rem, 6rem)",
    cell: ({ states }) => formatCount(states[state]),
  });
  const columns: Column<FeedService>[] = [
    {
      id: "service",
      title: "Service",
      cell: ({ service }) => <a href={`/console/shards?service=${service}`}>{service}</a>,
    },
    { id: "placement", title: "Placement", wide: true, cell: ({ placement }) => placement },
    {
      id: "shards",
      title: "Shards",
      number: true,
      width: "minmax(3.2rem, 6rem)",
      cell: ({ shards }) => formatCount(shards),
    },
    ...STATES.map(number),
    {
      id: "bar",
      title: "",
      width: "minmax(3rem, 10rem)",
      cell: ({ states }) => (
        <Bar
          shares={STATES.map((state) => ({ name: state, value: states[state], colour: state }))}
          label={STATES.map((state) => `${formatCount(states[state])} ${state}`).join(", ")}
        />
      ),
    },
  ];
  return (
    <section class="stack tight">
      <h2>Services</h2>
      <Table
        label="Services"
        columns={columns}
        rows={model.services}
        keyOf={({ i }) => i}
        empty={<p class="muted">No node offers a service yet.</p>}
      />
    </section>
  );
}
