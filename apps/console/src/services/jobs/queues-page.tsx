/** The job queue in one look: how many jobs there are, how fast they go and how long they take, and the task groups. */
import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import { useMemo, useRef, useState } from "preact/hooks";
import { get, path, request } from "../../api/request.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { formatCount, formatDuration, formatNumber } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import type { ServicePageProps } from "../pages.ts";
import { Chart } from "./chart.tsx";
import { EnqueueButton } from "./enqueue-dialog.tsx";
import { STATUSES, jobsHref, type Group, type History, type Stats } from "./jobs-api.ts";
import { rates, seriesOf, times } from "./series.ts";
import { LiveMark, StatusMark } from "./status-mark.tsx";
import { useJobEvents } from "./use-job-events.ts";
import { useLiveAnswer } from "./use-live-answer.ts";
import "./jobs.css";

const SPANS = [
  { seconds: 900, step: 10, title: "15 min" },
  { seconds: 3_600, step: 60, title: "1 h" },
] as const;

export function QueuesPage(_: ServicePageProps): JSX.Element {
  const { round, live } = useJobEvents();
  const stats = useLiveAnswer("stats", round, (signal) => get<Stats>("/v1/jobs/stats", {}, signal));
  const groups = useLiveAnswer("groups", round, (signal) =>
    get<{ groups: readonly Group[] }>("/v1/jobs/groups", {}, signal),
  );
  const seen = useRef(new Map<string, Group>());
  const known = useMemo(() => remembered(seen.current, groups.value?.groups ?? []), [groups.value]);
  const problem = stats.problem ?? groups.problem;
  return (
    <Page title="Queues" about={<LiveMark live={live} />} actions={<EnqueueButton groups={known} />}>
      {problem && <ProblemNote problem={problem} again={stats.again} />}
      {stats.value && <Figures stats={stats.value} />}
      <Charts round={round} />
      {groups.value && <Groups groups={known} again={groups.again} />}
    </Page>
  );
}

/** A group with nothing to do is not in the answer; on the page it stays, or rows would jump about. */
function remembered(seen: Map<string, Group>, groups: readonly Group[]): readonly Group[] {
  for (const [name, group] of seen) seen.set(name, { ...group, ready: 0, running: 0, tenants: [] });
  for (const group of groups) seen.set(group.group, group);
  return [...seen.values()].sort((a, b) => (a.group < b.group ? -1 : 1));
}

function Figures({ stats: { jobs, tenants, schedules } }: { readonly stats: Stats }): JSX.Element {
  return (
    <div class="job-figures">
      {STATUSES.map((status) => (
        <a key={status} href={jobsHref({ status })}>
          <b class="number">{formatCount(jobs[status])}</b>
          <StatusMark status={status} />
        </a>
      ))}
      <a href="/console/jobs/tenants">
        <b class="number">{formatCount(tenants)}</b>
        <span class="muted">{tenants === 1 ? "tenant" : "tenants"}</span>
      </a>
      <a href="/console/jobs/schedules">
        <b class="number">{formatCount(schedules)}</b>
        <span class="muted">{schedules === 1 ? "schedule" : "schedules"}</span>
      </a>
    </div>
  );
}

function Charts({ round }: { readonly round: number }): JSX.Element {
  const [span, setSpan] = useState<(typeof SPANS)[number]>(SPANS[0]);
  const { seconds, step } = span;
  const { value, problem } = useLiveAnswer(`history ${seconds}`, round, (signal) =>
    get<History>("/v1/jobs/history", { seconds, stepSeconds: step }, signal),
  );
  const drawn = useMemo(() => value && linesOf(value, seconds), [value, seconds]);
  return (
    <section class="stack">
      {problem && <ProblemNote problem={problem} />}
      <div class="row" role="group" aria-label="Time shown">
        <h2 class="grow">Throughput and times</h2>
        {SPANS.map((each) => (
          <button
            key={each.title}
            type="button"
            aria-pressed={each === span}
            class="pressable"
            onClick={() => setSpan(each)}
          >
            {each.title}
          </button>
        ))}
      </div>
      <div class="charts">
        <figure class="card">
          {drawn && (
            <Chart label="Jobs a second" times={drawn.times} lines={drawn.throughput} format={formatNumber} />
          )}
        </figure>
        <figure class="card">
          {drawn && (
            <Chart
              label="Waiting and running"
              times={drawn.times}
              lines={drawn.latency}
              format={formatDuration}
              logarithmic
            />
          )}
        </figure>
      </div>
    </section>
  );
}

function linesOf(history: History, seconds: number) {
  const series = seriesOf(history, Date.now(), seconds);
  const { stepMs } = history;
  return {
    times: series.times,
    throughput: [
      { label: "succeeded", colour: "--good", values: rates(series, stepMs, "succeeded") },
      { label: "failed", colour: "--error", values: rates(series, stepMs, "failed") },
      { label: "started", colour: "--held", dashed: true, values: rates(series, stepMs, "running") },
    ],
    latency: [
      { label: "wait p50", colour: "--held", values: times(series, "waitMsP50") },
      { label: "wait p99", colour: "--held", dashed: true, values: times(series, "waitMsP99") },
      { label: "run p50", colour: "--moving", values: times(series, "runMsP50") },
      { label: "run p99", colour: "--moving", dashed: true, values: times(series, "runMsP99") },
    ],
  };
}

function Groups({
  groups,
  again,
}: {
  readonly groups: readonly Group[];
  readonly again: () => void;
}): JSX.Element {
  const { route } = useLocation();
  const columns: readonly Column<Group>[] = [
    {
      id: "group",
      title: "Task group",
      width: "minmax(8rem, 2fr)",
      cell: ({ group }) => <a href={jobsHref({ group })}>{group}</a>,
    },
    { id: "state", title: "State", width: "5.5rem", cell: ({ paused }) => (paused ? "❚❚ paused" : "open") },
    { id: "ready", title: "Ready", width: "5rem", number: true, cell: ({ ready }) => formatCount(ready) },
    {
      id: "running",
      title: "Running",
      width: "5rem",
      number: true,
      cell: ({ running }) => formatCount(running),
    },
    {
      id: "tenants",
      title: "Tenants at work",
      width: "8rem",
      number: true,
      wide: true,
      cell: ({ tenants }) => formatCount(tenants.length),
    },
    { id: "pause", title: "", width: "6rem", cell: (group) => <Pause group={group} done={again} /> },
  ];
  return (
    <section class="stack">
      <h2>Task groups</h2>
      <Table
        label="Task groups"
        columns={columns}
        rows={groups}
        keyOf={({ group }) => group}
        open={({ group }) => route(jobsHref({ group }))}
        empty={<Empty title="Nothing is queued">A task group is there as soon as a job names it.</Empty>}
      />
    </section>
  );
}

function Pause({
  group: { group, paused },
  done,
}: {
  readonly group: Group;
  readonly done: () => void;
}): JSX.Element {
  const ask = (): void =>
    confirm({
      title: paused ? `Resume ${group}?` : `Pause ${group}?`,
      text: paused
        ? "Jobs of this group are started again, for all tenants."
        : "No more jobs of this group are started. What runs goes on; what is enqueued waits.",
      action: paused ? "Resume" : "Pause",
      async run() {
        await request("POST", path`/v1/jobs/groups/${group}/` + (paused ? "resume" : "pause"));
        done();
        return paused ? `${group} goes on.` : `${group} is paused.`;
      },
    });
  return (
    <ActionButton service="jobs" scope="write" kind="plain" onClick={ask}>
      {paused ? "Resume" : "Pause"}
    </ActionButton>
  );
}
