/** Tenants, those with the most to do first. */
import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import { FilterField } from "../../fleet/filter-field.tsx";
import { useQuery } from "../../fleet/use-query.ts";
import { get } from "../../api/request.ts";
import { Empty } from "../../ui/empty.tsx";
import { formatCount, formatNumber } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { tenantHref, type JobStatus, type Tenant } from "./jobs-api.ts";
import { LiveMark } from "./status-mark.tsx";
import { useJobEvents } from "./use-job-events.ts";
import { useLiveAnswer } from "./use-live-answer.ts";
import "./jobs.css";

const ROWS_MAX = 1_000;

const count = (status: JobStatus, wide: boolean): Column<Tenant> => ({
  id: status,
  title: status.charAt(0).toUpperCase() + status.slice(1),
  width: "5.5rem",
  number: true,
  wide,
  cell: ({ jobs }) => formatCount(jobs[status]),
});

const COLUMNS: readonly Column<Tenant>[] = [
  {
    id: "tenant",
    title: "Tenant",
    width: "minmax(7rem, 2fr)",
    cell: ({ tenant }) => <a href={tenantHref(tenant)}>{tenant}</a>,
  },
  count("scheduled", false),
  count("running", false),
  count("succeeded", true),
  count("failed", true),
  count("cancelled", true),
  {
    id: "weight",
    title: "Share",
    width: "4rem",
    number: true,
    wide: true,
    cell: ({ weight }) => formatNumber(weight),
  },
  { id: "paused", title: "", width: "5.5rem", wide: true, cell: ({ paused }) => (paused ? "❚❚ paused" : "") },
];

export function TenantsPage(): JSX.Element {
  const { route } = useLocation();
  const address = useQuery();
  const { prefix = "" } = address.query;
  const { round, live } = useJobEvents();
  const { value, problem, again } = useLiveAnswer(prefix, round, (signal) =>
    get<{ tenants: readonly Tenant[] }>("/v1/jobs/tenants", { limit: ROWS_MAX, prefix }, signal),
  );
  return (
    <Page title="Tenants" about={<LiveMark live={live} />}>
      <FilterField label="Name begins with" value={prefix} change={(text) => address.set({ prefix: text })} />
      {problem && <ProblemNote problem={problem} again={again} />}
      {value && (
        <Table
          label="Tenants"
          columns={COLUMNS}
          rows={value.tenants}
          keyOf={({ tenant }) => tenant}
          open={({ tenant }) => route(tenantHref(tenant))}
          empty={<Empty title="No tenants">A tenant is there as soon as a job names it.</Empty>}
        />
      )}
      {value?.tenants.length === ROWS_MAX && <p class="muted">There are more: say how their names begin.</p>}
    </Page>
  );
}
