/** Jobs, those that changed last first: of all tenants, or of one with everything that is kept. What is chosen can be cancelled or run again together. */
import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import { useEffect, useState } from "preact/hooks";
import { Choice } from "../../fleet/filter-field.tsx";
import { useQuery } from "../../fleet/use-query.ts";
import { asProblem, type Problem } from "../../api/problem.ts";
import { get, path } from "../../api/request.ts";
import { Empty } from "../../ui/empty.tsx";
import { formatAgo, plural } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { EnqueueButton } from "./enqueue-dialog.tsx";
import { STATUSES, jobHref, type Group, type Job, type Tenant } from "./jobs-api.ts";
import { LiveMark, StatusMark } from "./status-mark.tsx";
import { useJobEvents } from "./use-job-events.ts";
import { useLiveAnswer } from "./use-live-answer.ts";
import "./jobs.css";

const PAGE_ROWS = 100;
/** Pages beyond this are better reached with a filter. */
const ROWS_MAX = 2_000;

interface Listed {
  readonly jobs: readonly Job[];
  readonly next?: string;
}

export function JobsPage(): JSX.Element {
  const { route } = useLocation();
  const address = useQuery();
  const { query } = address;
  const { tenant = "", status = "", group = "", metadata = "" } = query;
  const { round, live } = useJobEvents(tenant === "" ? {} : { tenant });
  const names = useLiveAnswer("names", 0, async (signal) => {
    const [{ groups }, { tenants }] = await Promise.all([
      get<{ groups: readonly Group[] }>("/v1/jobs/groups", {}, signal),
      get<{ tenants: readonly Tenant[] }>("/v1/jobs/tenants", { limit: 200 }, signal),
    ]);
    return { groups, tenants };
  });
  const key = [tenant, status, group, metadata].join("\n");
  const first = useLiveAnswer(key, round, (signal) => list(query, undefined, signal));
  const [older, setOlder] = useState<Listed>();
  const [olderProblem, setOlderProblem] = useState<Problem>();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    setOlder(undefined);
    setChosen(new Set());
  }, [key]);
  const known = new Set(first.value?.jobs.map(nameOf));
  const rows = [
    ...(first.value?.jobs ?? []),
    ...(older?.jobs ?? []).filter((job) => !known.has(nameOf(job))),
  ];
  const next = older === undefined ? first.value?.next : older.next;
  const more = async (): Promise<void> => {
    try {
      const page = await list(query, next, AbortSignal.timeout(30_000));
      setOlder((before) => ({ ...page, jobs: [...(before?.jobs ?? []), ...page.jobs] }));
      setOlderProblem(undefined);
    } catch (error) {
      setOlderProblem(asProblem(error));
    }
  };
  const choose = (name: string, isChosen: boolean): void =>
    setChosen((before) => {
      const after = new Set(before);
      if (isChosen) after.add(name);
      else after.delete(name);
      return after;
    });
  const problem = first.problem ?? olderProblem;
  return (
    <Page
      title="Jobs"
      about={<LiveMark live={live} />}
      actions={<EnqueueButton groups={names.value?.groups} {...(tenant === "" ? {} : { tenant })} />}
    >
      <div class="row">
        <Choice
          label="All tenants"
          value={tenant}
          options={withChosen(
            names.value?.tenants.map((each) => each.tenant),
            tenant,
          )}
          change={(value) => address.set({ tenant: value })}
        />
        <Choice
          label="Any status"
          value={status}
          options={STATUSES}
          change={(value) => address.set({ status: value })}
        />
        <Choice
          label="All groups"
          value={group}
          options={withChosen(
            names.value?.groups.map((each) => each.group),
            group,
          )}
          change={(value) => address.set({ group: value })}
        />
        {tenant !== "" && (
          <input
            type="search"
            aria-label="Metadata"
            placeholder="metadata: key=value"
            value={metadata}
            onChange={({ currentTarget }) => address.set({ metadata: currentTarget.value })}
          />
        )}
        <GoTo tenant={tenant === "" ? "-" : tenant} go={route} />
      </div>
      {problem && <ProblemNote problem={problem} again={first.again} />}
      <BulkBar
        jobs={rows.filter((job) => chosen.has(nameOf(job)))}
        where={tenant === "" ? undefined : { tenant, status, group, metadata }}
        done={() => {
          setChosen(new Set());
          first.again();
        }}
        clear={() => setChosen(new Set())}
      />
      {first.value && (
        <Table
          label="Jobs"
          columns={columns(rows, chosen, choose, (all) => setChosen(new Set(all ? rows.map(nameOf) : [])))}
          rows={rows}
          keyOf={nameOf}
          open={(job) => route(jobHref(job))}
          empty={<Empty title="No such jobs">Take a filter away, or enqueue one.</Empty>}
        />
      )}
      <div class="row muted">
        <span class="grow">{first.value && plural(rows.length, "job")} shown</span>
        {next !== undefined && rows.length < ROWS_MAX && (
          <button type="button" onClick={() => void more()}>
            Older jobs
          </button>
        )}
        {tenant === "" && rows.length >= PAGE_ROWS && <span>Choose a tenant to see all of its jobs.</span>}
      </div>
    </Page>
  );
}

/** Jobs of all tenants are the latest alone; a tenant's are all that are kept. */
function list(
  { tenant = "", status, group, metadata = "" }: Readonly<Record<string, string>>,
  before: string | undefined,
  signal: AbortSignal,
): Promise<Listed> {
  if (tenant === "") return get<Listed>("/v1/jobs/jobs", { status, group, limit: PAGE_ROWS }, signal);
  const [metadataKey = "", ...value] = metadata.split("=");
  const filter = metadataKey === "" ? {} : { metadataKey, metadataValue: value.join("=") };
  return get<Listed>(
    path`/v1/jobs/tenants/${tenant}/jobs`,
    { status, group, limit: PAGE_ROWS, before, ...filter },
    signal,
  );
}

function columns(
  rows: readonly Job[],
  chosen: ReadonlySet<string>,
  choose: (name: string, isChosen: boolean) => void,
  chooseAll: (all: boolean) => void,
): readonly Column<Job>[] {
  const all = rows.length > 0 && rows.every((job) => chosen.has(nameOf(job)));
  return [
    {
      id: "chosen",
      title: (
        <input
          type="checkbox"
          aria-label="Choose all that are shown"
          checked={all}
          onChange={({ currentTarget }) => chooseAll(currentTarget.checked)}
        />
      ),
      width: "1.6rem",
      cell: (job) => (
        <input
          type="checkbox"
          aria-label={`Choose ${job.id}`}
          checked={chosen.has(nameOf(job))}
          // The row would be drawn anew between the click and its change, and take the mark back.
          onClick={(event) => event.stopPropagation()}
          onChange={({ currentTarget }) => choose(nameOf(job), currentTarget.checked)}
        />
      ),
    },
    {
      id: "id",
      title: "Job",
      width: "minmax(8rem, 2fr)",
      cell: (job) => (
        <a href={jobHref(job)}>
          <code>{job.id}</code>
        </a>
      ),
    },
    { id: "status", title: "Status", width: "7rem", cell: ({ status }) => <StatusMark status={status} /> },
    { id: "group", title: "Group", wide: true, cell: ({ group }) => group },
    { id: "tenant", title: "Tenant", wide: true, cell: ({ tenant }) => tenant },
    { id: "waits", title: "Waits for", width: "6.5rem", wide: true, cell: ({ waitsFor }) => waitsFor ?? "" },
    {
      id: "tries",
      title: "Tries",
      width: "3.5rem",
      number: true,
      wide: true,
      cell: ({ attempts }) => attempts.at(-1)?.number ?? 0,
    },
    {
      id: "changed",
      title: "Changed",
      width: "6.5rem",
      number: true,
      cell: ({ statusAtMs }) => formatAgo(statusAtMs),
    },
  ];
}

function nameOf({ tenant, id }: Job): string {
  return `${tenant}\n${id}`;
}

/** What the address names is there to choose, also when nobody has a job in it now. */
function withChosen(names: readonly string[] = [], chosen: string): readonly string[] {
  return chosen === "" || names.includes(chosen) ? names : [chosen, ...names];
}

function GoTo({ tenant, go }: { readonly tenant: string; readonly go: (href: string) => void }): JSX.Element {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const id = new FormData(event.currentTarget).get("id");
        if (typeof id === "string" && id.trim() !== "") go(jobHref({ tenant, id: id.trim() }));
      }}
    >
      <input
        name="id"
        type="search"
        data-search=""
        aria-label="Open a job by its id"
        placeholder="Open by id   /"
        autocomplete="off"
      />
    </form>
  );
}
