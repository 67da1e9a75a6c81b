/** One tenant: its jobs by status, its share, its limits with who waits for them, and its schedules. */
import type { JSX } from "preact";
import { get, path, request } from "../../api/request.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { formatCount, formatNumber } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import type { ServicePageProps } from "../pages.ts";
import { EnqueueButton } from "./enqueue-dialog.tsx";
import { STATUSES, jobsHref, type Limit, type Schedule, type TenantDetails } from "./jobs-api.ts";
import { ScheduleTable } from "./schedules-page.tsx";
import { StatusMark } from "./status-mark.tsx";
import { useJobEvents } from "./use-job-events.ts";
import { useLiveAnswer } from "./use-live-answer.ts";
import "./jobs.css";

const LIMITS: readonly Column<Limit>[] = [
  { id: "key", title: "Limit", width: "minmax(7rem, 2fr)", cell: ({ key }) => <code>{key}</code> },
  { id: "kind", title: "Kind", wide: true, cell: ({ kind }) => kind },
  { id: "held", title: "Held", width: "4.5rem", number: true, cell: ({ held }) => formatCount(held) },
  { id: "max", title: "At most", width: "4.5rem", number: true, cell: ({ max }) => formatCount(max) },
  {
    id: "waiting",
    title: "Waiting",
    width: "4.5rem",
    number: true,
    cell: ({ waiting }) => formatCount(waiting),
  },
];

export function TenantPage({ params }: ServicePageProps): JSX.Element {
  const { tenant = "" } = params;
  const { round } = useJobEvents({ tenant });
  const { value, problem, again } = useLiveAnswer(tenant, round, (signal) =>
    get<TenantDetails>(path`/v1/jobs/tenants/${tenant}`, {}, signal),
  );
  const schedules = useLiveAnswer(tenant, round, (signal) =>
    get<{ schedules: readonly Schedule[] }>(
      path`/v1/jobs/tenants/${tenant}/schedules`,
      { limit: 1_000 },
      signal,
    ),
  );
  const shown = problem ?? schedules.problem;
  return (
    <Page
      title={tenant}
      about={value && `on shard ${value.shard}, with a share of ${formatNumber(value.weight ?? 1)}`}
      actions={
        <>
          {value && <Pause details={value} done={again} />}
          <EnqueueButton tenant={tenant} />
        </>
      }
    >
      {shown && <ProblemNote problem={shown} again={again} />}
      {value && (
        <div class="job-figures">
          {STATUSES.map((status) => (
            <a key={status} href={jobsHref({ tenant, status })}>
              <b class="number">{formatCount(value.jobs?.[status] ?? 0)}</b>
              <StatusMark status={status} />
            </a>
          ))}
        </div>
      )}
      {value && (
        <section class="stack">
          <h2>Limits</h2>
          <Table
            label="Limits"
            columns={LIMITS}
            rows={value.limits}
            keyOf={({ kind, key }) => `${kind} ${key}`}
            empty={<p class="muted">No job of this tenant has one now.</p>}
          />
        </section>
      )}
      {schedules.value && (
        <section class="stack">
          <h2>Schedules</h2>
          <ScheduleTable schedules={schedules.value.schedules} again={schedules.again} />
        </section>
      )}
    </Page>
  );
}

function Pause({
  details,
  done,
}: {
  readonly details: TenantDetails;
  readonly done: () => void;
}): JSX.Element {
  const { tenant, paused = false } = details;
  const ask = (): void =>
    confirm({
      title: paused ? `Resume ${tenant}?` : `Pause ${tenant}?`,
      text: paused
        ? "Jobs of this tenant are started again."
        : "No more jobs of this tenant are started. What runs goes on; what is enqueued waits.",
      action: paused ? "Resume" : "Pause",
      async run() {
        await request("PATCH", path`/v1/jobs/tenants/${tenant}`, { body: { paused: !paused } });
        done();
        return paused ? `${tenant} goes on.` : `${tenant} is paused.`;
      },
    });
  return (
    <ActionButton service="jobs" scope="write" onClick={ask}>
      {paused ? "Resume" : "Pause"}
    </ActionButton>
  );
}
